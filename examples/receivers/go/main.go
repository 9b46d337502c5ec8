// A receiver of Pixgate's notifications with net/http and nothing else.
//
//	PIXGATE_URL=http://127.0.0.1:3000 PIXGATE_WEBHOOK_SECRET=whsec_… go run .
//
// A notification is verified, stored in a file and answered with 204; process runs afterwards. With PIXGATE_API_KEY (scope
// read) it also reads the feed, which has what the webhook missed.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"receiver/pixgate"
)

const maxBodyBytes = 64 << 10

// Notification has the fields that this receiver reads; more may come.
type Notification struct {
	EventType string `json:"event_type"`
	Event     struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	} `json:"event"`
}

// process is your work. It runs again if the process ends in the middle, so it must be safe to repeat.
func process(webhookID string, body []byte) error {
	var notification Notification
	if err := json.Unmarshal(body, &notification); err != nil {
		return err
	}
	event := notification.Event
	fmt.Println("processed", webhookID, notification.EventType, event.ID, event.Status)
	return nil
}

func receive(keys *keyCache, inbox *inbox, secret string) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maxBodyBytes))
		if err != nil {
			response.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		key, err := keys.find(request.Header.Get("digital-signature-key-id"))
		if err != nil {
			// Pixgate retries a 503.
			response.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		header, now := request.Header.Get, time.Now()
		if !pixgate.VerifyECDSA(key, header, body, now) || !pixgate.VerifyStandard(secret, header, body, now) {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		if header("webhook-test") != "true" {
			if err := inbox.store(header("webhook-id"), body); err != nil {
				log.Print(err)
				response.WriteHeader(http.StatusServiceUnavailable)
				return
			}
		}
		response.WriteHeader(http.StatusNoContent)
	}
}

func environment(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	if fallback == "" {
		log.Fatalf("%s is missing", name)
	}
	return fallback
}

func main() {
	inbox, err := openInbox(environment("RECEIVER_FILE", "notifications.ndjson"))
	if err != nil {
		log.Fatal(err)
	}
	go inbox.processForever(process)
	url := environment("PIXGATE_URL", "")
	keys := &keyCache{url: url + "/public-keys"}
	if apiKey := os.Getenv("PIXGATE_API_KEY"); apiKey != "" {
		reader := &feed{url: url + "/api/pix/events", apiKey: apiKey, keys: keys, inbox: inbox}
		go reader.followForever()
	}
	http.HandleFunc("POST /pix", receive(keys, inbox, environment("PIXGATE_WEBHOOK_SECRET", "")))
	server := &http.Server{Addr: environment("RECEIVER_ADDRESS", "127.0.0.1:8000"), ReadTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}
