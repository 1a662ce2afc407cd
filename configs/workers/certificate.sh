#!/usr/bin/env bash
# Makes a certificate for a broker or a client: certificate.sh NAME SUBJECT_ALT_NAME (docs/distributed.md), for instance
#   certificate.sh alpha DNS:alpha,DNS:localhost,IP:127.0.0.1
# Writes NAME.pem and NAME.key into the current folder, and at the first call the authority's ca.pem and ca.key.
set -euo pipefail
umask 077
[[ -f ca.key ]] ||
  openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=Winnow broker CA" -keyout ca.key -out ca.pem
openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 825 \
  -extfile <(echo "subjectAltName=$2") -out "$1.pem"
