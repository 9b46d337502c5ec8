import base64, hashlib, hmac, time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

# The time of sending may be five minutes off, to either side.
def is_recent(timestamp, now):
    now = int(time.time()) if now is None else now
    return timestamp.isascii() and timestamp.isdigit() and abs(now - int(timestamp[:20])) <= 300

# secret: whsec_…; headers: names in small letters; body: the bytes as they came.
def verify_standard(secret, headers, body, now=None):
    timestamp = headers.get("webhook-timestamp", "")
    if not is_recent(timestamp, now):
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers.get('webhook-id', '')}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
    # There are several while a secret is exchanged: one that verifies is enough.
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(one.encode(), expected) for one in given)

def verify_ecdsa(public_key_pem, headers, body, now=None):
    if not is_recent(headers.get("webhook-timestamp", ""), now):
        return False
    key = serialization.load_pem_public_key(public_key_pem.encode())
    try:
        signature = base64.b64decode(headers.get("digital-signature", ""))
        key.verify(signature, body, ec.ECDSA(hashes.SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True
