"""The story that each generated client tells (generated_clients_test.py): what an application does in a
day, by the client that openapi-python-client made. Arguments: the API's address, reader, two authors, the
first post. Answers one JSON object."""

import json
import sys
import time

from fanline_client import Client
from fanline_client.api.following import follow, unfollow
from fanline_client.api.publishing import delete_post, publish_post, undo_reposts
from fanline_client.api.timelines import count_timeline, get_posts, get_timeline, list_reposts
from fanline_client.models.follow_response_409 import FollowResponse409
from fanline_client.models.get_timeline_reposts import GetTimelineReposts
from fanline_client.models.get_timeline_response_400 import GetTimelineResponse400
from fanline_client.models.publish_request import PublishRequest
from fanline_client.models.publish_request_repost_of import PublishRequestRepostOf
from fanline_client.types import UNSET

POSTS, PAGE, LIMIT_S = 25, 7, 30
REPOST = 101  # Ann's, newer than all posts


class Story:
    def __init__(self, address, reader, ann, eve, first):
        self.client = Client(base_url=address)
        self.reader, self.ann, self.eve, self.first = reader, ann, eve, int(first)

    def publish(self, number, repost_of=UNSET):
        """Odd ones are Ann's. In the order of their times."""
        author = self.ann if number % 2 else self.eve
        event = publish_post.sync(client=self.client, body=PublishRequest(
            post_id=str(self.first + number), author_id=author, created_at_ms=1_700_000_000_000 + number,
            repost_of=repost_of))
        return event.created_at_ms

    def repost(self):
        """Ann reposts the oldest post, which is Eve's, and undoes it."""
        oldest = str(self.first)
        self.publish(REPOST, PublishRequestRepostOf(post_id=oldest, author_id=self.eve))

        def newest(reposts=UNSET):
            return get_timeline.sync(self.reader, client=self.client, limit=50, reposts=reposts).items[0]

        merged = self.until(newest, lambda item: item.id == oldest)
        each = newest(GetTimelineReposts.EACH)
        who = list_reposts.sync(oldest, client=self.client, author_id=self.eve)
        undone = undo_reposts.sync(self.ann, oldest, client=self.client).undone
        self.until(newest, lambda item: item.id != oldest)
        return [int(merged.id) - self.first, merged.posted, [one.by for one in merged.reposts], each.kind,
                int(each.repost_of.id) - self.first, who.count, [one.id for one in who.items],
                [int(post) - self.first for post in undone]]

    def walk(self, read, user):
        ids, cursor = [], UNSET
        while True:
            page = read(user, client=self.client, limit=PAGE, cursor=cursor)
            ids += [int(post.id) - self.first for post in page.items]
            cursor = page.next_cursor
            if not cursor:
                return ids

    def home(self):
        return self.walk(get_timeline.sync, self.reader)

    def until(self, read, good):
        """What it reads at last, good or not."""
        end = time.monotonic() + LIMIT_S
        while not good(value := read()) and time.monotonic() < end:
            time.sleep(0.1)
        return value

    def tell(self):
        told = {}
        told["followed"] = [follow.sync(self.reader, author, client=self.client).changed
                            for author in (self.ann, self.eve)]
        told["created_at_ms"] = [self.publish(number) for number in range(POSTS)][-1]
        told["home"] = self.until(self.home, lambda ids: len(ids) == POSTS)
        page = get_timeline.sync(self.reader, client=self.client, limit=PAGE)
        told["item"] = [page.items[0].created_at_ms, page.items[0].author_id, page.items[0].kind]
        for number in range(POSTS, POSTS + 3):
            self.publish(number)
        told["new"] = self.until(
            lambda: count_timeline.sync(self.reader, client=self.client, newer_than=page.newest_cursor).count,
            lambda count: count == 3)
        told["outbox"] = self.walk(get_posts.sync, self.ann)
        told["reposted"] = self.repost()
        told["deleted"] = delete_post.sync(str(self.first + 3), client=self.client, author_id=self.ann).type_.value
        told["without_the_deleted"] = self.until(self.home, lambda ids: 3 not in ids)
        told["unfollowed"] = unfollow.sync(self.reader, self.eve, client=self.client).following
        told["without_eve"] = self.until(self.home, lambda ids: all(number % 2 for number in ids))
        refused = get_timeline.sync_detailed("0", client=self.client)
        assert isinstance(refused.parsed, GetTimelineResponse400), refused
        told["refused"] = [refused.status_code, refused.parsed.code.value]
        conflict = follow.sync_detailed(self.reader, self.reader, client=self.client)
        told["oneself"] = [conflict.status_code, conflict.parsed.code.value]
        assert not isinstance(conflict.parsed, FollowResponse409) or conflict.status_code == 409
        return told


if __name__ == "__main__":
    print(json.dumps(Story(*sys.argv[1:]).tell()))
