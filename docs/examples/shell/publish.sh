#!/bin/bash
# Tells Fanline about one post from a shell: published and reposted in JSON, edited and deleted in Protobuf.
# Needs kcat and protoc (Debian: kcat, protobuf-compiler); run it at the root of the repository.
set -euo pipefail

brokers=${FANLINE_KAFKA_BROKERS:-127.0.0.1:9092}
post=$(date +%s%N) author=5
repost=$((post + 1)) reposter=9

value=$(mktemp)
trap 'rm -f "$value"' EXIT

# Sends what comes on stdin as one record. Without the broker's acknowledgement it says why and
# ends the script with 1. Through a file, since kcat would cut stdin into lines.
send() {  # content-type, post
  cat >"$value"
  kcat -P -b "$brokers" -t feed-events -k "$2" -H "content-type=$1" \
    -X enable.idempotence=true -X delivery.timeout.ms=10000 "$value"
}

json() { send application/json "$1"; }

protobuf() {
  protoc --encode=fanline.v1.FeedEvent schemas/proto/feed_event.proto | send application/x-protobuf "$1"
}

json "$post" <<EVENT
{"schema_version": 1, "type": "post.published", "post_id": "$post", "author_id": "$author", "created_at_ms": $(date +%s%3N)}
EVENT

# A repost is a post of its own, by who reposts. To undo it, delete it.
json "$repost" <<EVENT
{"schema_version": 1, "type": "post.published", "post_id": "$repost", "author_id": "$reposter", "created_at_ms": $(date +%s%3N), "repost_of": {"post_id": "$post", "author_id": "$author"}}
EVENT

protobuf "$post" <<EVENT
schema_version: 1  edited { post_id: $post  author_id: $author  version: 1 }
EVENT

protobuf "$repost" <<EVENT
schema_version: 1  deleted { post_id: $repost  author_id: $reposter }
EVENT

protobuf "$post" <<EVENT
schema_version: 1  deleted { post_id: $post  author_id: $author }
EVENT
