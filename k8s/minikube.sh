#!/bin/sh
# Starts minikube with a network that enforces policies, and loads the images that were built here.
set -eu
minikube start --profile rearview --cpus 4 --memory 8g --cni calico
for service in gateway writer retriever lifecycle migrate mcp; do
  minikube --profile rearview image load "localhost/rearview/$service:${TAG:-0.1.0}"
done
