<?php
$order = [
    'amount_cents' => 1990,
    'external_reference' => 'order-1',
    'payment_source' => ['source_type' => 'token', 'token_id' => getenv('TOKEN_ID')],
    'customer' => [
        'name' => 'Ada Lovelace', 'email' => 'ada@example.com', 'document' => '52998224725', 'phone' => '11987654321',
        'address' => ['zip_code' => '01310100', 'street' => 'Avenida Paulista', 'number' => '1000',
            'district' => 'Bela Vista', 'city' => 'Sao Paulo', 'state' => 'SP'],
    ],
];
$key = 'order-1-' . getenv('TOKEN_ID'); // store it first: a repeat needs the same
$request = curl_init(getenv('BASE_URL') . '/v1/payments');
curl_setopt_array($request, [
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_TIMEOUT => 30,
    CURLOPT_POSTFIELDS => json_encode($order),
    CURLOPT_HTTPHEADER => ['Authorization: Bearer ' . getenv('API_KEY'), 'Content-Type: application/json', "Idempotency-Key: $key"],
]);
$body = curl_exec($request);
if ($body === false) exit("No answer: it may have been charged. Repeat with the same key.\n");
// 201: paid. 202: read it again later. 422: declined
echo curl_getinfo($request, CURLINFO_RESPONSE_CODE), " $body\n";
