package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"
	"sync"
	"time"
)

// inbox stores notifications as lines of a file: {"id","body"} when one came, {"id","processed":true} when its work is done,
// {"cursor"} when the feed was read so far.
// A shop with a database uses a table whose primary key is the webhook-id instead.
type inbox struct {
	lock    sync.Mutex
	file    *os.File
	seen    map[string]bool
	waiting []entry
	cursor  string
	arrived chan struct{}
}

type entry struct {
	ID        string `json:"id,omitempty"`
	Body      []byte `json:"body,omitempty"`
	Processed bool   `json:"processed,omitempty"`
	Cursor    string `json:"cursor,omitempty"`
}

func openInbox(path string) (*inbox, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	stored := &inbox{file: file, seen: map[string]bool{}, arrived: make(chan struct{}, 1)}
	// The end of the last complete line: a crash may leave half a line, which was never answered.
	end := int64(0)
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var read entry
		if err := json.Unmarshal(line, &read); err != nil {
			return nil, err
		}
		stored.apply(read)
		end += int64(len(line))
	}
	if err := file.Truncate(end); err != nil {
		return nil, err
	}
	_, err = file.Seek(end, 0)
	return stored, err
}

func (stored *inbox) apply(read entry) {
	if read.Cursor != "" {
		stored.cursor = read.Cursor
		return
	}
	if !read.Processed {
		stored.seen[read.ID] = true
		stored.waiting = append(stored.waiting, read)
		return
	}
	for index, other := range stored.waiting {
		if other.ID == read.ID {
			stored.waiting = append(stored.waiting[:index], stored.waiting[index+1:]...)
			return
		}
	}
}

// store returns when the notification is on disk. Storing it again does nothing.
func (stored *inbox) store(id string, body []byte) error {
	stored.lock.Lock()
	defer stored.lock.Unlock()
	if stored.seen[id] {
		return nil
	}
	if err := stored.append(entry{ID: id, Body: body}); err != nil {
		return err
	}
	select {
	case stored.arrived <- struct{}{}:
	default:
	}
	return nil
}

// feedCursor is "" before the feed was read.
func (stored *inbox) feedCursor() string {
	stored.lock.Lock()
	defer stored.lock.Unlock()
	return stored.cursor
}

// storeCursor returns when it is on disk, if it is another one.
func (stored *inbox) storeCursor(cursor string) error {
	stored.lock.Lock()
	defer stored.lock.Unlock()
	if cursor == stored.cursor {
		return nil
	}
	return stored.append(entry{Cursor: cursor})
}

func (stored *inbox) append(written entry) error {
	line, err := json.Marshal(written)
	if err != nil {
		return err
	}
	if _, err := stored.file.Write(append(line, '\n')); err != nil {
		log.Fatal("the inbox cannot be written: ", err)
	}
	if err := stored.file.Sync(); err != nil {
		log.Fatal("the inbox cannot be written: ", err)
	}
	stored.apply(written)
	return nil
}

func (stored *inbox) next() (entry, bool) {
	stored.lock.Lock()
	defer stored.lock.Unlock()
	if len(stored.waiting) == 0 {
		return entry{}, false
	}
	return stored.waiting[0], true
}

// processForever works in the order of arrival. Work that fails is repeated.
func (stored *inbox) processForever(process func(webhookID string, body []byte) error) {
	for {
		first, isWaiting := stored.next()
		if !isWaiting {
			<-stored.arrived
			continue
		}
		if err := process(first.ID, first.Body); err != nil {
			log.Print(first.ID, " ", err)
			time.Sleep(time.Second)
			continue
		}
		stored.lock.Lock()
		err := stored.append(entry{ID: first.ID, Processed: true})
		stored.lock.Unlock()
		if err != nil {
			log.Print(err)
		}
	}
}
