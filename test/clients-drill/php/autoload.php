<?php
// Finds the generated classes, and Guzzle as Debian packages it.
require getenv('PHP_LIBRARIES') . '/GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    $file = __DIR__ . '/lib/' . str_replace('\\', '/', substr($class, strlen('OpenAPI\\Client\\'))) . '.php';
    if (str_starts_with($class, 'OpenAPI\\Client\\') && is_file($file)) require $file;
});
