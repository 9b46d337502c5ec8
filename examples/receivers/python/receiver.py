"""A receiver of Pixgate's notifications with FastAPI.

    pip install fastapi uvicorn cryptography
    PIXGATE_URL=http://127.0.0.1:3000 PIXGATE_WEBHOOK_SECRET=whsec_… uvicorn receiver:app --port 8000

A notification is verified, stored in SQLite and answered with 204; `process` runs afterwards. With PIXGATE_API_KEY (scope
`read`) it also reads the feed, which has what the webhook missed.
"""

import json, logging, os, sqlite3, threading, time, urllib.error, urllib.parse, urllib.request
from contextlib import closing

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool

from pixgate_signatures import verify_ecdsa, verify_standard

PIXGATE_URL = os.environ["PIXGATE_URL"]
SECRET = os.environ["PIXGATE_WEBHOOK_SECRET"]
DATABASE = os.environ.get("RECEIVER_DATABASE", "notifications.db")
MAX_BODY_BYTES = 64 * 1024


class KeyCache:
    """Public keys of Pixgate by id. An unknown id reloads them, at most once a second, because ids can be made up."""

    def __init__(self):
        self.keys, self.loaded_at, self.lock = {}, float("-inf"), threading.Lock()

    def find(self, key_id):
        with self.lock:
            age = time.monotonic() - self.loaded_at
            if age > 300 or (key_id not in self.keys and age > 1):
                with urllib.request.urlopen(f"{PIXGATE_URL}/public-keys", timeout=2) as answer:
                    # Replaces the cache: a key that is missing now was revoked.
                    self.keys = {key["id"]: key["publicKey"] for key in json.load(answer)["data"]}
                self.loaded_at = time.monotonic()
            return self.keys.get(key_id)


class Inbox:
    """Stored notifications. The primary key makes duplicates harmless."""

    def __init__(self):
        self.arrived = threading.Event()
        self.run("CREATE TABLE IF NOT EXISTS notification (id TEXT PRIMARY KEY, body BLOB, processed_at REAL)")
        self.run("CREATE TABLE IF NOT EXISTS feed (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT)")

    def run(self, sql, *values):
        with closing(sqlite3.connect(DATABASE)) as db, db:
            return db.execute(sql, values).fetchall()

    def store(self, webhook_id, body):
        """Returns when the notification is on disk."""
        self.run("INSERT OR IGNORE INTO notification VALUES (?, ?, NULL)", webhook_id, body)
        self.arrived.set()

    def cursor(self):
        """None before the feed was read."""
        return next((cursor for (cursor,) in self.run("SELECT cursor FROM feed")), None)

    def store_page(self, notifications, cursor):
        """The events and the cursor behind them are one transaction."""
        with closing(sqlite3.connect(DATABASE)) as db, db:
            db.executemany("INSERT OR IGNORE INTO notification VALUES (?, ?, NULL)", notifications)
            db.execute("REPLACE INTO feed VALUES (1, ?)", [cursor])
        self.arrived.set()

    def process_forever(self):
        """Works in the order of arrival. Work that fails is repeated."""
        while True:
            self.arrived.clear()
            for webhook_id, body in self.run("SELECT id, body FROM notification WHERE processed_at IS NULL ORDER BY rowid"):
                try:
                    process(webhook_id, json.loads(body))
                except Exception:
                    logging.exception("notification %s", webhook_id)
                    time.sleep(1)
                    self.arrived.set()
                    break
                self.run("UPDATE notification SET processed_at = ? WHERE id = ?", time.time(), webhook_id)
            self.arrived.wait()


class Feed:
    """Reads every notification in order, from the stored cursor on: what the webhook missed while one of the two was down."""

    def __init__(self, api_key):
        self.headers = {"authorization": f"Bearer {api_key}"}

    def follow_forever(self):
        """Waits at the end of the feed, and outlasts outages."""
        wait = 0
        while True:
            try:
                page = self.read(inbox.cursor(), wait)
                inbox.store_page([self.verified(event) for event in page["data"]], page["pagination"]["nextCursor"])
                wait = 0 if page["pagination"]["hasMore"] else 20
            except Exception:
                logging.exception("feed")
                time.sleep(1)

    def read(self, cursor, wait):
        query = {"limit": 100, "wait": wait} | ({"cursor": cursor} if cursor else {})
        url = f"{PIXGATE_URL}/api/pix/events?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=self.headers), timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code not in (410, 422):
                raise
            # The cursor does not hold any more: the answer says where the feed goes on.
            logging.error("feed: events are missing (%s); compare your orders with Pixgate", error.code)
            return {"data": [], "pagination": {"hasMore": True, "nextCursor": json.load(error)["readFrom"]["cursor"]}}

    def verified(self, event):
        key, body = keys.find(event["signatureKeyId"]), event["body"].encode()
        headers = {"digital-signature": event["signature"], "webhook-timestamp": str(int(time.time()))}
        if key is None or not verify_ecdsa(key, headers, body):
            raise ValueError(f"the signature of {event['id']} is wrong")
        return event["id"], body


def process(webhook_id, notification):
    """Your work. It runs again if the process ends in the middle, so it must be safe to repeat."""
    event = notification["event"]
    print("processed", webhook_id, notification["event_type"], event["id"], event.get("status"), flush=True)


keys, inbox, app = KeyCache(), Inbox(), FastAPI()
threading.Thread(target=inbox.process_forever, daemon=True).start()
if "PIXGATE_API_KEY" in os.environ:
    threading.Thread(target=Feed(os.environ["PIXGATE_API_KEY"]).follow_forever, daemon=True).start()


def accept(headers, body):
    key = keys.find(headers.get("digital-signature-key-id", ""))
    if key is None or not verify_ecdsa(key, headers, body) or not verify_standard(SECRET, headers, body):
        return 401
    if headers.get("webhook-test") != "true":
        inbox.store(headers["webhook-id"], body)
    return 204


@app.post("/pix")
async def receive(request: Request):
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            return Response(status_code=413)
    # An exception answers 500, which Pixgate retries.
    return Response(status_code=await run_in_threadpool(accept, request.headers, body))
