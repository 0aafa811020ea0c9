// The story of a merchant with the client that oapi-codegen makes (test/clients-drill).
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"drill/client"
)

var (
	ctx     = context.Background()
	run     = os.Getenv("RUN")
	service = must(client.NewClientWithResponses(os.Getenv("BASE_URL"), client.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
			return nil
		})))
)

func check(holds bool, what string, values ...any) {
	if !holds {
		fmt.Println(append([]any{"failed:", what}, values...)...)
		os.Exit(1)
	}
}

func must[T any](value T, err error) T {
	check(err == nil, fmt.Sprint(err))
	return value
}

// plain leaves out what the growing proxy adds to known values.
func plain(value string) string { return strings.TrimSuffix(value, "_added") }

func get(path string) (string, *http.Response) {
	answer := must(http.Get(os.Getenv("DRILL_URL") + path))
	defer answer.Body.Close()
	return string(must(io.ReadAll(answer.Body))), answer
}

func token(card string) (source client.PaymentSource) {
	id, _ := get("/token/" + card)
	must(0, source.FromPaymentSourceToken(client.PaymentSourceToken{SourceType: client.PaymentSourceTokenSourceTypeToken, TokenId: id}))
	return source
}

func order(amount int64, source client.PaymentSource) client.CreatePaymentRequest {
	metadata := map[string]any{"basket": 9007199254740991, "rate": 0.1, "gift": true, "note": "é", "voucher": nil}
	return client.CreatePaymentRequest{
		AmountCents:       amount,
		ExternalReference: "order-" + run,
		PaymentSource:     source,
		Metadata:          &metadata,
		Customer: client.Customer{
			Name: "Ada Lovelace", Email: "ada@example.com", Document: "52998224725", Phone: "11987654321",
			Address: client.Address{ZipCode: "01310100", Street: "Avenida Paulista", Number: "1000", District: "Bela Vista", City: "São Paulo", State: "SP"},
		},
	}
}

func create(key string, request client.CreatePaymentRequest, wait string) *client.CreatePaymentResponse {
	params := &client.CreatePaymentParams{IdempotencyKey: key + "-" + run}
	if wait != "" {
		params.Prefer = &wait
	}
	return must(service.CreatePaymentWithResponse(ctx, params, request))
}

func main() {
	registered := must(service.RegisterWebhookEndpointWithResponse(ctx, nil, client.RegisterWebhookEndpointRequest{Url: os.Getenv("WEBHOOK_URL")}))
	check(registered.JSON200 != nil, "register", string(registered.Body))

	// A charge of more than 32 bits, and its replay.
	request := order(999999999999, token("approved"))
	paid := create("charge", request, "").JSON201
	check(paid != nil && plain(paid.Status) == "captured" && paid.CapturedCents == 999999999999, "charge")
	again := create("charge", request, "")
	check(again.JSON200 != nil && again.JSON200.Id == paid.Id && again.HTTPResponse.Header.Get("Idempotent-Replayed") == "true", "replay")

	// A decline is an error of the type that the document names.
	refused := create("decline", order(1000, token("declined")), "").JSON422
	check(refused != nil && plain(refused.Error.Code) == "card_declined" && !refused.Error.Retryable, "decline")

	// 202, and its end.
	accepted := create("accepted", order(1000, token("approved")), "wait=0").JSON202
	check(accepted != nil, "202")
	for status := accepted.Status; plain(status) != "captured"; {
		time.Sleep(100 * time.Millisecond)
		status = must(service.ReadPaymentWithResponse(ctx, accepted.Id, nil)).JSON200.Status
	}

	// A hold, a part of it captured, two parts refunded, and the rest without a body.
	request = order(10000, token("approved"))
	later, part := false, int64(6000)
	request.Capture = &later
	held := create("hold", request, "").JSON201
	captured := must(service.CapturePaymentWithResponse(ctx, held.Id, &client.CapturePaymentParams{IdempotencyKey: "capture-" + run}, client.CapturePaymentRequest{AmountCents: &part})).JSON200
	check(captured != nil && plain(captured.Status) == "captured" && captured.CapturedCents == 6000, "capture")
	for index, cents := range []int64{1000, 2000} {
		params := &client.CancelPaymentParams{IdempotencyKey: fmt.Sprintf("refund-%d-%s", index, run)}
		check(must(service.CancelPaymentWithResponse(ctx, held.Id, params, client.CancelPaymentRequest{AmountCents: &cents})).JSON200 != nil, "refund")
	}
	rest := must(service.CancelPaymentWithBodyWithResponse(ctx, held.Id, &client.CancelPaymentParams{IdempotencyKey: "rest-" + run}, "application/json", nil)).JSON200
	check(rest != nil && plain(rest.Status) == "refunded" && rest.RefundedCents == 6000 && len(rest.Refunds) == 3, "refunds")

	// A stored card, and a charge of it.
	id, _ := get("/token/approved")
	card := must(service.StoreCardWithResponse(ctx, nil, client.StoreCardRequest{TokenId: id})).JSON201
	cvv := "123"
	var source client.PaymentSource
	must(0, source.FromPaymentSourceCard(client.PaymentSourceCard{SourceType: client.PaymentSourceCardSourceTypeCard, CardId: card.CardId, Cvv: &cvv}))
	byCard := create("card", order(1500, source), "").JSON201
	check(byCard != nil && *byCard.Card.CardId == card.CardId, "charge of a stored card")

	// All pages of the list, with metadata: five payments, of which one was declined.
	reference, limit, found := "order-"+run, int32(2), 0
	params := &client.ListPaymentsParams{ExternalReference: &reference, Limit: &limit}
	for isLast := false; !isLast; {
		page := must(service.ListPaymentsWithResponse(ctx, params)).JSON200
		check(page != nil, "page")
		found += len(page.Items)
		for _, one := range page.Items {
			check(one.Metadata["basket"] == 9007199254740991.0 && one.Metadata["rate"] == 0.1 && one.Metadata["note"] == "é", "metadata", one.Metadata)
		}
		params.Cursor, isLast = page.NextCursor, page.NextCursor == nil
	}
	check(found == 5, "list", found)

	// The webhook of the first charge.
	body, delivery := get("/delivery/" + paid.Id.String())
	header := delivery.Header.Get("X-Service-Signature")
	check(isSigned(header, []byte(body), registered.JSON200.Secret), "signature", header)
	var event client.WebhookEvent
	check(json.Unmarshal([]byte(body), &event) == nil && event.PaymentId == paid.Id && plain(event.Status) == "captured", "event", body)
	fmt.Println("done")
}
