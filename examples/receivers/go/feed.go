package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"time"

	"receiver/pixgate"
)

// feed reads every notification in order, from the stored cursor on: what the webhook missed while one of the two was down.
type feed struct {
	url    string
	apiKey string
	keys   *keyCache
	inbox  *inbox
}

type feedEvent struct {
	ID             string `json:"id"`
	Body           string `json:"body"`
	Signature      string `json:"signature"`
	SignatureKeyID string `json:"signatureKeyId"`
}

type feedPage struct {
	Data       []feedEvent `json:"data"`
	Pagination struct {
		HasMore    bool   `json:"hasMore"`
		NextCursor string `json:"nextCursor"`
	} `json:"pagination"`
	// Of a 410 or 422, whose cursor does not hold: where the feed goes on.
	ReadFrom struct {
		Cursor string `json:"cursor"`
	} `json:"readFrom"`
}

// followForever waits at the end of the feed, and outlasts outages.
func (reader *feed) followForever() {
	wait := 0
	for {
		page, err := reader.read(reader.inbox.feedCursor(), wait)
		if err == nil {
			err = reader.store(page)
		}
		if err != nil {
			log.Print("feed: ", err)
			time.Sleep(time.Second)
			continue
		}
		wait = 20
		if page.Pagination.HasMore {
			wait = 0
		}
	}
}

func (reader *feed) read(cursor string, wait int) (feedPage, error) {
	var page feedPage
	query := url.Values{"limit": {"100"}, "wait": {fmt.Sprint(wait)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	request, err := http.NewRequest("GET", reader.url+"?"+query.Encode(), nil)
	if err != nil {
		return page, err
	}
	request.Header.Set("authorization", "Bearer "+reader.apiKey)
	client := http.Client{Timeout: 30 * time.Second}
	answer, err := client.Do(request)
	if err != nil {
		return page, err
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&page); err != nil {
		return page, err
	}
	if page.ReadFrom.Cursor != "" {
		log.Printf("feed: events are missing (%d); compare your orders with Pixgate", answer.StatusCode)
		page.Pagination.HasMore, page.Pagination.NextCursor = true, page.ReadFrom.Cursor
	} else if answer.StatusCode != http.StatusOK {
		return page, fmt.Errorf("Pixgate answered %d", answer.StatusCode)
	}
	return page, nil
}

// store keeps the events, then the cursor behind them. After a crash in between they come again, and are known.
func (reader *feed) store(page feedPage) error {
	for _, event := range page.Data {
		key, err := reader.keys.find(event.SignatureKeyID)
		if err != nil {
			return err
		}
		now := time.Now()
		header := map[string]string{"digital-signature": event.Signature, "webhook-timestamp": fmt.Sprint(now.Unix())}
		body := []byte(event.Body)
		if !pixgate.VerifyECDSA(key, func(name string) string { return header[name] }, body, now) {
			return fmt.Errorf("the signature of %s is wrong", event.ID)
		}
		if err := reader.inbox.store(event.ID, body); err != nil {
			return err
		}
	}
	return reader.inbox.storeCursor(page.Pagination.NextCursor)
}
