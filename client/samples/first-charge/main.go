package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := `{
		"amount_cents": 1990,
		"external_reference": "order-1",
		"payment_source": {"source_type": "token", "token_id": "` + os.Getenv("TOKEN_ID") + `"},
		"customer": {
			"name": "Ada Lovelace", "email": "ada@example.com", "document": "52998224725", "phone": "11987654321",
			"address": {"zip_code": "01310100", "street": "Avenida Paulista", "number": "1000", "district": "Bela Vista", "city": "Sao Paulo", "state": "SP"}
		}
	}`
	request, err := http.NewRequest("POST", os.Getenv("BASE_URL")+"/v1/payments", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", "order-1-"+os.Getenv("TOKEN_ID")) // store it first: a repeat needs the same
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err) // it may have been charged: repeat with the same key
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fmt.Println(answer.StatusCode, string(text), err) // 201: paid. 202: read it again later. 422: declined
}
