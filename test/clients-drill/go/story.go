// The story of a merchant with the client that openapi-generator makes for Go (test/clients-drill).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	payments "github.com/GIT_USER_ID/GIT_REPO_ID"
)

var (
	ctx    = context.WithValue(context.Background(), payments.ContextAccessToken, os.Getenv("API_KEY"))
	client = payments.NewAPIClient(configuration())
	run    = os.Getenv("RUN")
)

func configuration() *payments.Configuration {
	config := payments.NewConfiguration()
	config.Servers = payments.ServerConfigurations{{URL: os.Getenv("BASE_URL")}}
	return config
}

// check ends the story unless a condition holds.
func check(holds bool, what string, values ...any) {
	if !holds {
		fmt.Println(append([]any{"failed:", what}, values...)...)
		os.Exit(1)
	}
}

// done is the value of a call that must not fail.
func done[T any](value T, _ *http.Response, err error) T {
	var problem *payments.GenericOpenAPIError
	if errors.As(err, &problem) {
		check(false, err.Error(), string(problem.Body()))
	}
	check(err == nil, fmt.Sprint(err))
	return value
}

// plain leaves out what the growing proxy adds to known values.
func plain(value string) string { return strings.TrimSuffix(value, "_added") }

func get(path string) (string, *http.Response) {
	answer, err := http.Get(os.Getenv("DRILL_URL") + path)
	check(err == nil, fmt.Sprint(err))
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return string(body), answer
}

func token(card string) payments.PaymentSource {
	id, _ := get("/token/" + card)
	return payments.PaymentSourceTokenAsPaymentSource(payments.NewPaymentSourceToken("token", id))
}

func order(amount int64, source payments.PaymentSource) payments.CreatePaymentRequest {
	address := payments.NewAddress("01310100", "Avenida Paulista", "1000", "Bela Vista", "São Paulo", "SP")
	customer := payments.NewCustomer("Ada Lovelace", "ada@example.com", "52998224725", "11987654321", *address)
	request := payments.NewCreatePaymentRequest(amount, "order-"+run, source, *customer)
	request.SetMetadata(map[string]any{"basket": 9007199254740991, "rate": 0.1, "gift": true, "note": "é", "voucher": nil})
	return *request
}

func create(key string, request payments.CreatePaymentRequest) payments.ApiCreatePaymentRequest {
	return client.PaymentsAPI.CreatePayment(ctx).IdempotencyKey(key + "-" + run).CreatePaymentRequest(request)
}

func main() {
	endpoint := done(client.WebhooksAPI.RegisterWebhookEndpoint(ctx).
		RegisterWebhookEndpointRequest(*payments.NewRegisterWebhookEndpointRequest(os.Getenv("WEBHOOK_URL"))).Execute())

	// A charge of more than 32 bits, and its replay.
	request := order(999999999999, token("approved"))
	paid, answer, err := create("charge", request).Execute()
	done(paid, answer, err)
	check(answer.StatusCode == 201 && plain(paid.Status) == "captured" && paid.CapturedCents == 999999999999, "charge", paid.Status)
	again, answer, err := create("charge", request).Execute()
	done(again, answer, err)
	check(answer.StatusCode == 200 && again.Id == paid.Id && answer.Header.Get("Idempotent-Replayed") == "true", "replay")

	// A decline is an error of the type that the document names.
	_, answer, err = create("decline", order(1000, token("declined"))).Execute()
	var problem *payments.GenericOpenAPIError
	check(errors.As(err, &problem) && answer.StatusCode == 422, "decline", err)
	refused, isTyped := problem.Model().(payments.Error)
	check(isTyped && plain(refused.Error.Code) == "card_declined" && !refused.Error.Retryable, "typed error", string(problem.Body()))

	// 202, and its end.
	accepted, answer, err := create("accepted", order(1000, token("approved"))).Prefer("wait=0").Execute()
	done(accepted, answer, err)
	check(answer.StatusCode == 202, "202", answer.Status)
	for plain(accepted.Status) != "captured" {
		time.Sleep(100 * time.Millisecond)
		accepted = done(client.PaymentsAPI.ReadPayment(ctx, accepted.Id).Execute())
	}

	// A hold, a part of it captured, two parts refunded, and the rest without a body.
	request = order(10000, token("approved"))
	request.SetCapture(false)
	held := done(create("hold", request).Execute())
	part := payments.NewCapturePaymentRequest()
	part.SetAmountCents(6000)
	captured := done(client.PaymentsAPI.CapturePayment(ctx, held.Id).IdempotencyKey("capture-" + run).CapturePaymentRequest(*part).Execute())
	check(plain(captured.Status) == "captured" && captured.CapturedCents == 6000, "capture", captured.CapturedCents)
	for index, cents := range []int64{1000, 2000} {
		refund := payments.NewCancelPaymentRequest()
		refund.SetAmountCents(cents)
		done(client.PaymentsAPI.CancelPayment(ctx, held.Id).IdempotencyKey(fmt.Sprintf("refund-%d-%s", index, run)).CancelPaymentRequest(*refund).Execute())
	}
	rest := done(client.PaymentsAPI.CancelPayment(ctx, held.Id).IdempotencyKey("rest-" + run).Execute())
	check(plain(rest.Status) == "refunded" && rest.RefundedCents == 6000 && len(rest.Refunds) == 3, "refunds", rest.RefundedCents)

	// A stored card, and a charge of it.
	id, _ := get("/token/approved")
	card := done(client.CardsAPI.StoreCard(ctx).StoreCardRequest(*payments.NewStoreCardRequest(id)).Execute())
	stored := payments.NewPaymentSourceCard("card", card.CardId)
	stored.SetCvv("123")
	byCard := done(create("card", order(1500, payments.PaymentSourceCardAsPaymentSource(stored))).Execute())
	check(byCard.Card.GetCardId() == card.CardId, "charge of a stored card")

	// All pages of the list, with metadata: five payments, of which one was declined.
	list := client.PaymentsAPI.ListPayments(ctx).ExternalReference("order-" + run).Limit(2)
	found := 0
	for {
		page := done(list.Execute())
		found += len(page.Items)
		for _, one := range page.Items {
			sum := one.Metadata["basket"].(float64)
			check(sum == 9007199254740991 && one.Metadata["rate"] == 0.1 && one.Metadata["note"] == "é", "metadata", one.Metadata)
		}
		cursor := page.NextCursor.Get()
		if cursor == nil {
			break
		}
		list = list.Cursor(*cursor)
	}
	check(found == 5, "list", found)

	// The webhook of the first charge.
	body, delivery := get("/delivery/" + paid.Id)
	header := delivery.Header.Get("X-Service-Signature")
	check(isSigned(header, []byte(body), endpoint.Secret), "signature", header)
	check(!isSigned(header, []byte(body), "whsec_another") && !isSigned(header, []byte(body+" "), endpoint.Secret), "a wrong signature")
	var event payments.WebhookEvent
	check(json.Unmarshal([]byte(body), &event) == nil && event.PaymentId == paid.Id && plain(event.Status) == "captured", "event", body)
	fmt.Println("done")
}
