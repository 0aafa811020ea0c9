<?php
// The story of a merchant with the client that openapi-generator makes for PHP (test/clients-drill).
use OpenAPI\Client\Api\CardsApi;
use OpenAPI\Client\Api\PaymentsApi;
use OpenAPI\Client\Api\WebhooksApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model;
use OpenAPI\Client\ObjectSerializer;

require 'autoload.php';
require 'signature.php';

$run = getenv('RUN');
$config = (new Configuration())->setHost(getenv('BASE_URL'))->setAccessToken(getenv('API_KEY'));
$payments = new PaymentsApi(null, $config);

function check(bool $holds, string $what): void
{
    if (!$holds) exit("failed: $what\n");
}

/** Without what the growing proxy adds to known values. */
function plain(string $value): string
{
    return preg_replace('/_added$/', '', $value);
}

function get(string $path): array
{
    $body = file_get_contents(getenv('DRILL_URL') . $path);
    foreach ($http_response_header as $line) {
        if (stripos($line, 'X-Service-Signature:') === 0) return [$body, trim(substr($line, 20))];
    }
    return [$body, ''];
}

function byToken(string $card): Model\PaymentSource
{
    return (new Model\PaymentSource())->setSourceType('token')->setTokenId(get("/token/$card")[0]);
}

function order(int $amount, $source, array $more = []): Model\CreatePaymentRequest
{
    $address = new Model\Address(['zip_code' => '01310100', 'street' => 'Avenida Paulista', 'number' => '1000',
        'district' => 'Bela Vista', 'city' => 'São Paulo', 'state' => 'SP']);
    $customer = (new Model\Customer())->setName('Ada Lovelace')->setEmail('ada@example.com')
        ->setDocument('52998224725')->setPhone('11987654321')->setAddress($address);
    return new Model\CreatePaymentRequest(['amount_cents' => $amount, 'external_reference' => 'order-' . getenv('RUN'),
        'payment_source' => $source, 'customer' => $customer,
        'metadata' => ['basket' => 9007199254740991, 'rate' => 0.1, 'gift' => true, 'note' => 'é', 'voucher' => null]] + $more);
}

$endpoint = (new WebhooksApi(null, $config))
    ->registerWebhookEndpoint(new Model\RegisterWebhookEndpointRequest(['url' => getenv('WEBHOOK_URL')]));

// A charge of more than 32 bits, and its replay.
$request = order(999999999999, byToken('approved'));
[$paid, $status] = $payments->createPaymentWithHttpInfo("charge-$run", $request);
check($status === 201 && plain($paid->getStatus()) === 'captured' && $paid->getCapturedCents() === 999999999999, 'charge');
[$again, $status, $headers] = $payments->createPaymentWithHttpInfo("charge-$run", $request);
$replayed = array_change_key_case($headers)['idempotent-replayed'][0] ?? '';
check($status === 200 && $again->getId() === $paid->getId() && $replayed === 'true', 'replay');

// A decline is an error of the type that the document names.
try {
    $payments->createPayment("decline-$run", order(1000, byToken('declined')));
    check(false, 'not declined');
} catch (ApiException $problem) {
    $refused = $problem->getResponseObject();
    check($problem->getCode() === 422 && $refused instanceof Model\Error, 'typed error');
    check(plain($refused->getError()->getCode()) === 'card_declined', 'code of the decline');
}

// 202, and its end.
[$accepted, $status] = $payments->createPaymentWithHttpInfo("accepted-$run", order(1000, byToken('approved')), 'wait=0');
check($status === 202, '202');
while (plain($payments->readPayment($accepted->getId())->getStatus()) !== 'captured') usleep(100000);

// A hold, a part of it captured, two parts refunded, and the rest without a body.
$held = $payments->createPayment("hold-$run", order(10000, byToken('approved'), ['capture' => false]))->getId();
$part = new Model\CapturePaymentRequest(['amount_cents' => 6000]);
$captured = $payments->capturePayment($held, "capture-$run", null, null, $part);
check(plain($captured->getStatus()) === 'captured' && $captured->getCapturedCents() === 6000, 'capture');
foreach ([1000, 2000] as $cents) {
    $refund = new Model\CancelPaymentRequest(['amount_cents' => $cents]);
    $payments->cancelPayment($held, "refund-$cents-$run", null, null, $refund);
}
$rest = $payments->cancelPayment($held, "rest-$run");
check(plain($rest->getStatus()) === 'refunded' && $rest->getRefundedCents() === 6000 && count($rest->getRefunds()) === 3, 'refunds');

// A stored card, and a charge of it.
$card = (new CardsApi(null, $config))->storeCard(new Model\StoreCardRequest(['token_id' => get('/token/approved')[0]]));
$source = (new Model\PaymentSource())->setSourceType('card')->setCardId($card->getCardId())->setCvv('123');
$byCard = $payments->createPayment("card-$run", order(1500, $source));
check($byCard->getCard()->getCardId() === $card->getCardId(), 'charge of a stored card');

// All pages of the list, with metadata: five payments, of which one was declined.
[$found, $cursor] = [0, null];
do {
    $page = $payments->listPayments(null, null, "order-$run", null, null, 2, $cursor);
    foreach ($page->getItems() as $one) {
        $metadata = (array) $one->getMetadata();
        check($metadata['basket'] === 9007199254740991 && $metadata['rate'] === 0.1 && $metadata['note'] === 'é', 'metadata');
        $found++;
    }
    $cursor = $page->getNextCursor();
} while ($cursor !== null);
check($found === 5, "list $found");

// The webhook of the first charge.
[$body, $header] = get('/delivery/' . $paid->getId());
check(isSigned($header, $body, $endpoint->getSecret()), 'signature');
check(!isSigned($header, $body, 'whsec_another') && !isSigned($header, "$body ", $endpoint->getSecret()), 'a wrong signature');
$event = ObjectSerializer::deserialize(json_decode($body), Model\WebhookEvent::class);
check($event->getPaymentId() === $paid->getId() && plain($event->getStatus()) === 'captured', 'event');
echo "done\n";
