package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// keyCache has Pixgate's public keys by id. An unknown id reloads them, at most once a second, because ids can be made up.
type keyCache struct {
	url      string
	lock     sync.Mutex
	keys     map[string]string
	loadedAt time.Time
}

// find returns the key as PEM, or "" if Pixgate has no key of that id.
func (cache *keyCache) find(id string) (string, error) {
	cache.lock.Lock()
	defer cache.lock.Unlock()
	age := time.Since(cache.loadedAt)
	_, isKnown := cache.keys[id]
	if age > 5*time.Minute || (!isKnown && age > time.Second) {
		keys, err := load(cache.url)
		if err != nil {
			return "", err
		}
		// Replaces the cache: a key that is missing now was revoked.
		cache.keys, cache.loadedAt = keys, time.Now()
	}
	return cache.keys[id], nil
}

func load(url string) (map[string]string, error) {
	client := http.Client{Timeout: 2 * time.Second}
	answer, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d", url, answer.StatusCode)
	}
	var document struct {
		Data []struct {
			ID        string `json:"id"`
			PublicKey string `json:"publicKey"`
		} `json:"data"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&document); err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for _, key := range document.Data {
		keys[key.ID] = key.PublicKey
	}
	return keys, nil
}
