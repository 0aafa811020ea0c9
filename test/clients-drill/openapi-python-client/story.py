"""The story of a merchant with the client that openapi-python-client makes (test/clients-drill)."""
import json
import os
import time
import urllib.request

from card_payments_client import AuthenticatedClient
from card_payments_client import models as m
from card_payments_client.api.cards import store_card
from card_payments_client.api.payments import (
    cancel_payment,
    capture_payment,
    create_payment,
    list_payments,
    read_payment,
)
from card_payments_client.api.webhooks import register_webhook_endpoint
from signature import is_signed

run = os.environ["RUN"]
client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"], timeout=30)


def plain(value):
    """Without what the growing proxy adds to known values."""
    return value.removesuffix("_added")


def get(path):
    with urllib.request.urlopen(os.environ["DRILL_URL"] + path) as answer:
        return answer.read(), answer.headers


def by_token(card):
    token = get(f"/token/{card}")[0].decode()
    return m.PaymentSourceToken.from_dict({"source_type": "token", "token_id": token})


def order(amount, source, **more):
    address = {
        "zip_code": "01310100", "street": "Avenida Paulista", "number": "1000", "district": "Bela Vista",
        "city": "São Paulo", "state": "SP",
    }
    customer = m.Customer(
        name="Ada Lovelace", email="ada@example.com", document="52998224725", phone="11987654321",
        address=m.Address.from_dict(address),
    )
    metadata = m.CreatePaymentRequestMetadata.from_dict(
        {"basket": 9007199254740991, "rate": 0.1, "gift": True, "note": "é", "voucher": None}
    )
    return m.CreatePaymentRequest(
        amount_cents=amount, external_reference=f"order-{run}", payment_source=source, customer=customer,
        metadata=metadata, **more,
    )


def create(key, body, **more):
    return create_payment.sync_detailed(client=client, body=body, idempotency_key=f"{key}-{run}", **more)


url = os.environ["WEBHOOK_URL"]
endpoint = register_webhook_endpoint.sync(client=client, body=m.RegisterWebhookEndpointRequest(url=url))

# A charge of more than 32 bits, and its replay.
request = order(999999999999, by_token("approved"))
first = create("charge", request)
paid = first.parsed
assert first.status_code == 201 and plain(paid.status) == "captured" and paid.captured_cents == 999999999999, first
again = create("charge", request)
assert again.status_code == 200 and again.parsed.id == paid.id and again.headers["Idempotent-Replayed"] == "true"

# A decline is an error of the type that the document names.
refused = create("decline", order(1000, by_token("declined")))
assert refused.status_code == 422 and isinstance(refused.parsed, m.Error), refused
assert plain(refused.parsed.error.code) == "card_declined" and refused.parsed.error.retryable is False, refused

# 202, and its end.
accepted = create("accepted", order(1000, by_token("approved")), prefer="wait=0")
assert accepted.status_code == 202, accepted
while plain(read_payment.sync(accepted.parsed.id, client=client).status) != "captured":
    time.sleep(0.1)

# A hold, a part of it captured, two parts refunded, and the rest without a body.
held = create("hold", order(10000, by_token("approved"), capture=False)).parsed
part = m.CapturePaymentRequest(amount_cents=6000)
captured = capture_payment.sync(held.id, client=client, body=part, idempotency_key=f"capture-{run}")
assert plain(captured.status) == "captured" and captured.captured_cents == 6000, captured
for cents in (1000, 2000):
    refund = m.CancelPaymentRequest(amount_cents=cents)
    cancel_payment.sync(held.id, client=client, body=refund, idempotency_key=f"refund-{cents}-{run}")
rest = cancel_payment.sync(held.id, client=client, idempotency_key=f"rest-{run}")
assert plain(rest.status) == "refunded" and rest.refunded_cents == 6000 and len(rest.refunds) == 3, rest

# A stored card, and a charge of it.
token = get("/token/approved")[0].decode()
card = store_card.sync(client=client, body=m.StoreCardRequest(token_id=token))
source = m.PaymentSourceCard.from_dict({"source_type": "card", "card_id": card.card_id, "cvv": "123"})
assert create("card", order(1500, source)).parsed.card.card_id == card.card_id

# All pages of the list, with metadata: five payments, of which one was declined.
found, query = [], {}
while True:
    page = list_payments.sync(client=client, external_reference=f"order-{run}", limit=2, **query)
    found += page.items
    if page.next_cursor is None:
        break
    query = {"cursor": page.next_cursor}
assert len(found) == 5, found
for one in found:
    assert one.metadata["basket"] == 9007199254740991 and one.metadata["rate"] == 0.1 and one.metadata["note"] == "é", one

# The webhook of the first charge.
body, headers = get(f"/delivery/{paid.id}")
assert is_signed(headers["X-Service-Signature"], body, endpoint.secret), headers
event = m.WebhookEvent.from_dict(json.loads(body))
assert event.payment_id == paid.id and plain(event.status) == "captured", event
print("done")
