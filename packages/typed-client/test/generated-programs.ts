/** Programs of clients: each charges four amounts, reads the charges, pays the same amounts out, and prints what it read, in centavos. */
export const programs = {
  go: [
    'shop/main.go',
    `package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	pixgate "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func must[T any](value T, _ any, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	configuration := pixgate.NewConfiguration()
	configuration.Servers = pixgate.ServerConfigurations{{URL: os.Args[1]}}
	client := pixgate.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), pixgate.ContextAccessToken, os.Args[2])
	read := map[string][]int64{}
	for number, value := range []float64{0.29, 19.99, 524288.13, 9999999999.99} {
		name := fmt.Sprintf("go-%d", number)
		charge := *pixgate.NewCashInRequest(*pixgate.NewCashInRequestTransaction(value, name))
		created := must(client.CashInAPI.CreateCashIn(ctx).CashInRequest(charge).Execute())
		known := must(client.CashInAPI.GetCashIn(ctx, created.Id).Execute())
		read["charges"] = append(read["charges"], known.ValueCents)
		recipient := pixgate.NewCashOutRequestRecipient("joao@example.com", "email")
		order := *pixgate.NewCashOutRequest(*pixgate.NewCashOutRequestTransaction(value, name), *recipient)
		ordered := must(client.CashOutAPI.CreateCashOut(ctx).CashOutRequest(order).Execute())
		payout := must(client.CashOutAPI.GetCashOut(ctx, ordered.Id).Execute())
		read["payouts"] = append(read["payouts"], payout.ValueCents)
	}
	if err := json.NewEncoder(os.Stdout).Encode(read); err != nil {
		panic(err)
	}
}
`,
  ],
  python: [
    'shop.py',
    `import json, sys
import openapi_client as pixgate

configuration = pixgate.Configuration(host=sys.argv[1], access_token=sys.argv[2])
read = {"charges": [], "payouts": []}
with pixgate.ApiClient(configuration) as client:
    charges, payouts = pixgate.CashInApi(client), pixgate.CashOutApi(client)
    for number, value in enumerate([0.29, 19.99, 524288.13, 9999999999.99]):
        named = {"value": value, "externalId": f"python-{number}"}
        created = charges.create_cash_in(pixgate.CashInRequest.from_dict({"transaction": named}))
        read["charges"].append(charges.get_cash_in(created.id).value_cents)
        recipient = {"pixKey": "joao@example.com", "pixKeyType": "email"}
        order = pixgate.CashOutRequest.from_dict({"transaction": named, "recipient": recipient})
        ordered = payouts.create_cash_out(order)
        read["payouts"].append(payouts.get_cash_out(ordered.id).value_cents)
json.dump(read, sys.stdout)
`,
  ],
} as const
