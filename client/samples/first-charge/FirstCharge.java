import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

final class FirstCharge {
  public static void main(String[] args) throws Exception {
    String body = """
        {
          "amount_cents": 1990,
          "external_reference": "order-1",
          "payment_source": {"source_type": "token", "token_id": "%s"},
          "customer": {
            "name": "Ada Lovelace", "email": "ada@example.com", "document": "52998224725", "phone": "11987654321",
            "address": {"zip_code": "01310100", "street": "Avenida Paulista", "number": "1000", "district": "Bela Vista", "city": "Sao Paulo", "state": "SP"}
          }
        }""".formatted(System.getenv("TOKEN_ID"));
    HttpRequest request = HttpRequest.newBuilder(URI.create(System.getenv("BASE_URL") + "/v1/payments"))
        .header("Authorization", "Bearer " + System.getenv("API_KEY"))
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", "order-1-" + System.getenv("TOKEN_ID")) // store it first: a repeat needs the same
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
    // An exception: it may have been charged. Repeat with the same key.
    HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    System.out.println(answer.statusCode() + " " + answer.body()); // 201: paid. 202: read it again later. 422: declined
  }
}
