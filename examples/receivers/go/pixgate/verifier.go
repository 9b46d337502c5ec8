package pixgate

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strconv"
	"strings"
	"time"
)

// The time of sending may be five minutes off, to either side.
func isRecent(timestamp string, now time.Time) bool {
	sent, err := strconv.ParseUint(timestamp, 10, 40)
	off := now.Unix() - int64(sent)
	return err == nil && off >= -300 && off <= 300
}

// VerifyStandard wants the secret as whsec_…, request.Header.Get, and the bytes of the body as they came.
func VerifyStandard(secret string, header func(name string) string, body []byte, now time.Time) bool {
	timestamp := header("webhook-timestamp")
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || !isRecent(timestamp, now) {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(header("webhook-id") + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	// There are several while a secret is exchanged: one that verifies is enough.
	for _, given := range strings.Split(header("webhook-signature"), " ") {
		if hmac.Equal([]byte(given), expected) {
			return true
		}
	}
	return false
}

// VerifyECDSA wants the key as PEM, request.Header.Get, and the bytes of the body as they came.
func VerifyECDSA(publicKeyPEM string, header func(name string) string, body []byte, now time.Time) bool {
	block, _ := pem.Decode([]byte(publicKeyPEM))
	signature, err := base64.StdEncoding.DecodeString(header("digital-signature"))
	if block == nil || err != nil || !isRecent(header("webhook-timestamp"), now) {
		return false
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	key, isECDSA := parsed.(*ecdsa.PublicKey)
	digest := sha256.Sum256(body)
	return err == nil && isECDSA && ecdsa.VerifyASN1(key, digest[:], signature)
}
