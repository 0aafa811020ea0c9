<?php
/** Whether the secret signed the body, as it arrived (`php://input`), less than five minutes ago. */
function isSigned(string $header, string $body, string $secret): bool
{
    $sentAt = '';
    $signatures = [];
    foreach (explode(',', $header) as $part) {
        [$name, $value] = explode('=', trim($part), 2) + ['', ''];
        if ($name === 't') $sentAt = $value;
        if ($name === 'v1') $signatures[] = $value;
    }
    if (!preg_match('/^\d{1,12}$/', $sentAt) || abs(time() - (int) $sentAt) > 300) return false;
    $expected = hash_hmac('sha256', "$sentAt.$body", $secret);
    foreach ($signatures as $signature) {
        if (hash_equals($expected, $signature)) return true;
    }
    return false;
}
