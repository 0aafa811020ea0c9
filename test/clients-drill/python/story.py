"""The story of a merchant with the client that openapi-generator makes for Python (test/clients-drill)."""
import os
import time
import urllib.request

import openapi_client as client
from signature import is_signed

run = os.environ["RUN"]
api = client.ApiClient(client.Configuration(host=os.environ["BASE_URL"], access_token=os.environ["API_KEY"]))
payments, cards, webhooks = client.PaymentsApi(api), client.CardsApi(api), client.WebhooksApi(api)


def plain(value):
    """Without what the growing proxy adds to known values."""
    return value.removesuffix("_added")


def get(path):
    with urllib.request.urlopen(os.environ["DRILL_URL"] + path) as answer:
        return answer.read(), answer.headers


def token(card):
    return get(f"/token/{card}")[0].decode()


def order(amount, source, **more):
    address = client.Address(
        zip_code="01310100", street="Avenida Paulista", number="1000", district="Bela Vista", city="São Paulo", state="SP"
    )
    customer = client.Customer(
        name="Ada Lovelace", email="ada@example.com", document="52998224725", phone="11987654321", address=address
    )
    metadata = {"basket": 9007199254740991, "rate": 0.1, "gift": True, "note": "é", "voucher": None}
    return client.CreatePaymentRequest(
        amount_cents=amount, external_reference=f"order-{run}", payment_source=client.PaymentSource(source),
        customer=customer, metadata=metadata, **more
    )


def by_token(card):
    return client.PaymentSourceToken(source_type="token", token_id=token(card))


endpoint = webhooks.register_webhook_endpoint(client.RegisterWebhookEndpointRequest(url=os.environ["WEBHOOK_URL"]))

# A charge of more than 32 bits, and its replay.
request = order(999999999999, by_token("approved"))
first = payments.create_payment_with_http_info(f"charge-{run}", request)
paid = first.data
assert first.status_code == 201 and plain(paid.status) == "captured" and paid.captured_cents == 999999999999, paid
again = payments.create_payment_with_http_info(f"charge-{run}", request)
headers = {name.lower(): value for name, value in again.headers.items()}
assert again.status_code == 200 and again.data.id == paid.id and headers["idempotent-replayed"] == "true", again

# A decline is an error of the type that the document names.
try:
    payments.create_payment(f"decline-{run}", order(1000, by_token("declined")))
    raise AssertionError("not declined")
except client.ApiException as problem:
    refused = problem.data
    assert problem.status == 422 and isinstance(refused, client.Error), problem
    assert plain(refused.error.code) == "card_declined" and refused.error.retryable is False, refused

# 202, and its end.
accepted = payments.create_payment_with_http_info(f"accepted-{run}", order(1000, by_token("approved")), prefer="wait=0")
assert accepted.status_code == 202, accepted
while plain(payments.read_payment(accepted.data.id).status) != "captured":
    time.sleep(0.1)

# A hold, a part of it captured, two parts refunded, and the rest without a body.
held = payments.create_payment(f"hold-{run}", order(10000, by_token("approved"), capture=False))
part = client.CapturePaymentRequest(amount_cents=6000)
captured = payments.capture_payment(held.id, f"capture-{run}", capture_payment_request=part)
assert plain(captured.status) == "captured" and captured.captured_cents == 6000, captured
for cents in (1000, 2000):
    refund = client.CancelPaymentRequest(amount_cents=cents)
    payments.cancel_payment(held.id, f"refund-{cents}-{run}", cancel_payment_request=refund)
rest = payments.cancel_payment(held.id, f"rest-{run}")
assert plain(rest.status) == "refunded" and rest.refunded_cents == 6000 and len(rest.refunds) == 3, rest

# A stored card, and a charge of it.
card = cards.store_card(client.StoreCardRequest(token_id=token("approved")))
source = client.PaymentSourceCard(source_type="card", card_id=card.card_id, cvv="123")
assert payments.create_payment(f"card-{run}", order(1500, source)).card.card_id == card.card_id

# All pages of the list, with metadata: five payments, of which one was declined.
found, cursor = [], None
while True:
    page = payments.list_payments(external_reference=f"order-{run}", limit=2, cursor=cursor)
    found += page.items
    cursor = page.next_cursor
    if cursor is None:
        break
assert len(found) == 5, found
for one in found:
    assert one.metadata["basket"] == 9007199254740991 and one.metadata["rate"] == 0.1 and one.metadata["note"] == "é", one

# The webhook of the first charge.
body, headers = get(f"/delivery/{paid.id}")
header = headers["X-Service-Signature"]
assert is_signed(header, body, endpoint.secret), header
assert not is_signed(header, body, "whsec_another") and not is_signed(header, body + b" ", endpoint.secret)
event = client.WebhookEvent.from_json(body.decode())
assert event.payment_id == paid.id and plain(event.status) == "captured", event
print("done")
