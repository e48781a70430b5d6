-- Run once, in an empty data folder: the roles with their passwords, the database, the extensions.
\getenv owner OWNER_PASSWORD
\getenv service SERVICE_PASSWORD
\getenv operator OPERATOR_PASSWORD
CREATE ROLE rearview_owner LOGIN PASSWORD :'owner';
CREATE ROLE rearview_service LOGIN PASSWORD :'service';
CREATE ROLE rearview_operator LOGIN PASSWORD :'operator';
CREATE DATABASE rearview OWNER rearview_owner TEMPLATE template0 ENCODING 'UTF8';
REVOKE ALL ON DATABASE rearview FROM PUBLIC;
GRANT CONNECT ON DATABASE rearview TO rearview_owner, rearview_service, rearview_operator;
\connect rearview
CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;
CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA public;
GRANT ALL ON SCHEMA public TO rearview_owner;
