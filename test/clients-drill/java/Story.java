import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.JSON;
import org.openapitools.client.api.CardsApi;
import org.openapitools.client.api.PaymentsApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.Address;
import org.openapitools.client.model.CancelPaymentRequest;
import org.openapitools.client.model.CapturePaymentRequest;
import org.openapitools.client.model.CreatePaymentRequest;
import org.openapitools.client.model.Customer;
import org.openapitools.client.model.Error;
import org.openapitools.client.model.Payment;
import org.openapitools.client.model.PaymentPage;
import org.openapitools.client.model.PaymentSource;
import org.openapitools.client.model.PaymentSourceCard;
import org.openapitools.client.model.PaymentSourceToken;
import org.openapitools.client.model.RegisterWebhookEndpointRequest;
import org.openapitools.client.model.StoreCardRequest;
import org.openapitools.client.model.WebhookEvent;

/** The story of a merchant with the client that openapi-generator makes for Java, with okhttp (test/clients-drill). */
final class Story {
  static final String RUN = System.getenv("RUN");
  static final ApiClient CLIENT = new ApiClient();
  static final PaymentsApi PAYMENTS = new PaymentsApi(CLIENT);

  public static void main(String[] args) throws Exception {
    CLIENT.setBasePath(System.getenv("BASE_URL"));
    CLIENT.setBearerToken(System.getenv("API_KEY"));
    var url = URI.create(System.getenv("WEBHOOK_URL"));
    var endpoint = new WebhooksApi(CLIENT).registerWebhookEndpoint(new RegisterWebhookEndpointRequest().url(url.toString()), null);

    // A charge of more than 32 bits, and its replay.
    var request = order(999_999_999_999L, byToken("approved"));
    var first = create("charge", request, null);
    var paid = first.getData();
    check(first.getStatusCode() == 201 && plain(paid.getStatus()).equals("captured") && paid.getCapturedCents() == 999_999_999_999L, "charge");
    var again = create("charge", request, null);
    boolean isReplay = again.getHeaders().get("Idempotent-Replayed") != null || again.getHeaders().get("idempotent-replayed") != null;
    check(again.getStatusCode() == 200 && again.getData().getId().equals(paid.getId()) && isReplay, "replay");

    // A decline is an error of the type that the document names.
    try {
      create("decline", order(1000, byToken("declined")), null);
      check(false, "not declined");
    } catch (ApiException problem) {
      Error refused = JSON.deserialize(problem.getResponseBody(), Error.class);
      check(problem.getCode() == 422 && plain(refused.getError().getCode()).equals("card_declined"), problem.getResponseBody());
    }

    // 202, and its end.
    var accepted = create("accepted", order(1000, byToken("approved")), "wait=0");
    check(accepted.getStatusCode() == 202, "202");
    while (!plain(PAYMENTS.readPayment(accepted.getData().getId(), null).getStatus()).equals("captured")) Thread.sleep(100);

    // A hold, a part of it captured, two parts refunded, and the rest without a body.
    var held = create("hold", order(10_000, byToken("approved")).capture(false), null).getData().getId();
    var captured = PAYMENTS.capturePayment(held, "capture-" + RUN, null, null, new CapturePaymentRequest().amountCents(6000L));
    check(plain(captured.getStatus()).equals("captured") && captured.getCapturedCents() == 6000, "capture");
    for (long cents : new long[] {1000, 2000}) {
      PAYMENTS.cancelPayment(held, "refund-" + cents + "-" + RUN, null, null, new CancelPaymentRequest().amountCents(cents));
    }
    var rest = PAYMENTS.cancelPayment(held, "rest-" + RUN, null, null, null);
    check(plain(rest.getStatus()).equals("refunded") && rest.getRefundedCents() == 6000 && rest.getRefunds().size() == 3, "refunds");

    // A stored card, and a charge of it.
    var card = new CardsApi(CLIENT).storeCard(new StoreCardRequest().tokenId(get("/token/approved").body()), null);
    var source = new PaymentSourceCard().sourceType(PaymentSourceCard.SourceTypeEnum.CARD).cardId(card.getCardId()).cvv("123");
    var byCard = create("card", order(1500, new PaymentSource(source)), null).getData();
    check(card.getCardId().equals(byCard.getCard().getCardId()), "charge of a stored card");

    // All pages of the list, with metadata: five payments, of which one was declined.
    int found = 0;
    String cursor = null;
    do {
      PaymentPage page = PAYMENTS.listPayments(null, null, "order-" + RUN, null, null, 2, cursor);
      for (Payment one : page.getItems()) {
        var metadata = one.getMetadata();
        boolean isSame = ((Number) metadata.get("basket")).doubleValue() == 9007199254740991.0 && "é".equals(metadata.get("note"));
        check(isSame && ((Number) metadata.get("rate")).doubleValue() == 0.1, "metadata " + metadata);
        found++;
      }
      cursor = page.getNextCursor();
    } while (cursor != null);
    check(found == 5, "list " + found);

    // The webhook of the first charge.
    var delivery = get("/delivery/" + paid.getId());
    var header = delivery.headers().firstValue("X-Service-Signature").orElse("");
    check(Signature.isSigned(header, delivery.body().getBytes("UTF-8"), endpoint.getSecret()), "signature");
    check(!Signature.isSigned(header, delivery.body().getBytes("UTF-8"), "whsec_another"), "a wrong signature");
    WebhookEvent event = JSON.deserialize(delivery.body(), WebhookEvent.class);
    check(event.getPaymentId().equals(paid.getId()) && plain(event.getStatus()).equals("captured"), "event");
    System.out.println("done");
    System.exit(0);
  }

  static ApiResponse<Payment> create(String key, CreatePaymentRequest request, String prefer) throws ApiException {
    return PAYMENTS.createPaymentWithHttpInfo(key + "-" + RUN, request, prefer, null);
  }

  static CreatePaymentRequest order(long amount, PaymentSource source) {
    var address = new Address().zipCode("01310100").street("Avenida Paulista").number("1000");
    address.district("Bela Vista").city("São Paulo").state(Address.StateEnum.SP);
    var customer = new Customer().name("Ada Lovelace").email("ada@example.com").document("52998224725").phone("11987654321");
    Map<String, Object> metadata = new HashMap<>(Map.of("basket", 9007199254740991L, "rate", 0.1, "gift", true, "note", "é"));
    var request = new CreatePaymentRequest().amountCents(amount).externalReference("order-" + RUN).paymentSource(source);
    return request.customer(customer.address(address)).metadata(metadata);
  }

  static PaymentSource byToken(String card) throws Exception {
    var token = get("/token/" + card).body();
    return new PaymentSource(new PaymentSourceToken().sourceType(PaymentSourceToken.SourceTypeEnum.TOKEN).tokenId(token));
  }

  static HttpResponse<String> get(String path) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(System.getenv("DRILL_URL") + path)).build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }

  /** Without what the growing proxy adds to known values. */
  static String plain(String value) {
    return value.replaceFirst("_added$", "");
  }

  static void check(boolean holds, String what) {
    if (holds) return;
    System.out.println("failed: " + what);
    System.exit(1);
  }
}
