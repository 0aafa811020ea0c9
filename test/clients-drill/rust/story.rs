//! The story of a merchant with the client that openapi-generator makes for Rust (test/clients-drill).
use openapi::apis::configuration::Configuration;
use openapi::apis::payments_api as payments;
use openapi::apis::{cards_api, webhooks_api, Error};
use openapi::models::{self, PaymentSource};
use serde_json::json;
use std::{collections::HashMap, env, time::Duration};

/// Without what the growing proxy adds to known values.
fn plain(value: &str) -> &str {
    value.strip_suffix("_added").unwrap_or(value)
}

fn named(key: &str) -> String {
    format!("{key}-{}", env::var("RUN").unwrap())
}

async fn get(path: &str) -> String {
    let url = env::var("DRILL_URL").unwrap() + path;
    reqwest::get(url).await.unwrap().text().await.unwrap()
}

async fn by_token(card: &str) -> PaymentSource {
    let mut source = models::PaymentSourceToken::default();
    source.source_type = models::payment_source_token::SourceType::Token;
    source.token_id = get(&format!("/token/{card}")).await;
    PaymentSource::PaymentSourceToken(Box::new(source))
}

fn order(amount: i64, source: PaymentSource) -> models::CreatePaymentRequest {
    let mut address = models::Address::default();
    address.zip_code = "01310100".into();
    address.street = "Avenida Paulista".into();
    address.number = "1000".into();
    address.district = "Bela Vista".into();
    address.city = "São Paulo".into();
    address.state = models::address::State::Sp;
    let mut customer = models::Customer::default();
    customer.name = "Ada Lovelace".into();
    customer.email = "ada@example.com".into();
    customer.document = "52998224725".into();
    customer.phone = "11987654321".into();
    customer.address = Box::new(address);
    let mut request = models::CreatePaymentRequest::default();
    request.amount_cents = amount;
    request.external_reference = named("order");
    request.payment_source = Box::new(source);
    request.customer = Box::new(customer);
    let metadata = json!({ "basket": 9007199254740991i64, "rate": 0.1, "gift": true, "note": "é", "voucher": null });
    request.metadata = Some(serde_json::from_value::<HashMap<String, serde_json::Value>>(metadata).unwrap());
    request
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut config = Configuration::new();
    config.base_path = env::var("BASE_URL").unwrap();
    config.bearer_access_token = Some(env::var("API_KEY").unwrap());
    let endpoint = models::RegisterWebhookEndpointRequest::new(env::var("WEBHOOK_URL").unwrap());
    let endpoint = webhooks_api::register_webhook_endpoint(&config, endpoint, None).await.unwrap();
    assert!(endpoint.secret.starts_with("whsec_"));

    // A charge of more than 32 bits, and its replay.
    let request = order(999_999_999_999, by_token("approved").await);
    let paid = payments::create_payment(&config, &named("charge"), request.clone(), None, None).await.unwrap();
    assert_eq!((plain(&paid.status), paid.captured_cents), ("captured", 999_999_999_999));
    let again = payments::create_payment(&config, &named("charge"), request, None, None).await.unwrap();
    assert_eq!(again.id, paid.id);

    // A decline is an error of the type that the document names.
    let request = order(1000, by_token("declined").await);
    match payments::create_payment(&config, &named("decline"), request, None, None).await {
        // The variants of its error have one form: the first one is taken for all, so the content tells.
        Err(Error::ResponseError(answer)) => {
            let refused: models::Error = serde_json::from_str(&answer.content).unwrap();
            assert_eq!((answer.status.as_u16(), plain(&refused.error.code)), (422, "card_declined"));
            assert!(answer.entity.is_some());
        }
        other => panic!("not declined: {other:?}"),
    }

    // 202, and its end.
    let request = order(1000, by_token("approved").await);
    let mut accepted = payments::create_payment(&config, &named("accepted"), request, Some("wait=0"), None).await.unwrap();
    while plain(&accepted.status) != "captured" {
        tokio::time::sleep(Duration::from_millis(100)).await;
        accepted = payments::read_payment(&config, &accepted.id.to_string(), None).await.unwrap();
    }

    // A hold, a part of it captured, two parts refunded, and the rest without a body.
    let mut request = order(10_000, by_token("approved").await);
    request.capture = Some(false);
    let held = payments::create_payment(&config, &named("hold"), request, None, None).await.unwrap().id.to_string();
    let part = models::CapturePaymentRequest { amount_cents: Some(6000) };
    let captured = payments::capture_payment(&config, &held, &named("capture"), None, None, Some(part)).await.unwrap();
    assert_eq!((plain(&captured.status), captured.captured_cents), ("captured", 6000));
    for cents in [1000, 2000] {
        let refund = models::CancelPaymentRequest { amount_cents: Some(cents) };
        payments::cancel_payment(&config, &held, &named(&format!("refund-{cents}")), None, None, Some(refund)).await.unwrap();
    }
    let rest = payments::cancel_payment(&config, &held, &named("rest"), None, None, None).await.unwrap();
    assert_eq!((plain(&rest.status), rest.refunded_cents, rest.refunds.len()), ("refunded", 6000, 3));

    // A stored card, and a charge of it.
    let token = models::StoreCardRequest::new(get("/token/approved").await);
    let card = cards_api::store_card(&config, token, None).await.unwrap();
    let mut source = models::PaymentSourceCard::default();
    source.source_type = models::payment_source_card::SourceType::Card;
    source.card_id = card.card_id.clone();
    source.cvv = Some("123".into());
    let request = order(1500, PaymentSource::PaymentSourceCard(Box::new(source)));
    let by_card = payments::create_payment(&config, &named("card"), request, None, None).await.unwrap();
    assert_eq!(by_card.card.card_id, Some(card.card_id));

    // All pages of the list, with metadata: five payments, of which one was declined.
    let (mut found, mut cursor) = (0, None::<String>);
    loop {
        let reference = named("order");
        let page = payments::list_payments(&config, None, None, Some(&reference), None, None, Some(2), cursor.as_deref()).await.unwrap();
        found += page.items.len();
        for one in &page.items {
            assert_eq!(one.metadata["basket"], json!(9007199254740991i64));
            assert_eq!((&one.metadata["rate"], &one.metadata["note"]), (&json!(0.1), &json!("é")));
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(found, 5);

    // The webhook of the first charge. Its signature is checked in the other languages: std has no HMAC.
    let event: models::WebhookEvent = serde_json::from_str(&get(&format!("/delivery/{}", paid.id)).await).unwrap();
    assert_eq!((event.payment_id, plain(&event.status)), (paid.id, "captured"));
    println!("done");
}
