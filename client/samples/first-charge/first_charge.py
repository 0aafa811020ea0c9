import json
import os
import urllib.error
import urllib.request

order = {
    "amount_cents": 1990,
    "external_reference": "order-1",
    "payment_source": {"source_type": "token", "token_id": os.environ["TOKEN_ID"]},
    "customer": {
        "name": "Ada Lovelace", "email": "ada@example.com", "document": "52998224725", "phone": "11987654321",
        "address": {
            "zip_code": "01310100", "street": "Avenida Paulista", "number": "1000", "district": "Bela Vista",
            "city": "Sao Paulo", "state": "SP",
        },
    },
}
headers = {
    "Authorization": f"Bearer {os.environ['API_KEY']}",
    "Content-Type": "application/json",
    "Idempotency-Key": f"order-1-{os.environ['TOKEN_ID']}",  # store it first: a repeat needs the same
}
url = f"{os.environ['BASE_URL']}/v1/payments"
request = urllib.request.Request(url, json.dumps(order).encode(), headers, method="POST")
try:
    with urllib.request.urlopen(request, timeout=30) as answer:
        print(answer.status, answer.read().decode())  # 201: paid. 202: read it again later
except urllib.error.HTTPError as answer:
    print(answer.status, answer.read().decode())  # 422: declined
# Any other error: it may have been charged. Repeat with the same key.
