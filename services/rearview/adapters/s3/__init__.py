"""S3 and MinIO behind the cold-store port."""
