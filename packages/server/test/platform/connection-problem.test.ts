import assert from 'node:assert/strict'
import test from 'node:test'
import { connectionProblem } from '../../src/platform/connection-problem.ts'

test('[health.5] faults of TLS are distinguished: none, too old, our certificate, others', () => {
  const told = {
    EPROTO: 'does not speak TLS',
    ERR_SSL_WRONG_VERSION_NUMBER: 'does not speak TLS',
    ERR_SSL_PACKET_LENGTH_TOO_LONG: 'does not speak TLS',
    ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'speaks no version of TLS that we do: TLS 1.2 or newer is needed',
    ERR_SSL_UNSUPPORTED_PROTOCOL: 'speaks no version of TLS that we do: TLS 1.2 or newer is needed',
    ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'wants a certificate of ours, and we have none',
    ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'refuses the certificate that we show it',
    ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: 'refuses the certificate that we show it',
    'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE':
      'refuses our TLS handshake: it may want a certificate of ours, and we have none',
    ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE:
      'refuses our TLS handshake: it may want a certificate of ours, and we have none',
    ERR_SSL_TLSV1_UNRECOGNIZED_NAME: 'does not agree with us on TLS',
    UND_ERR_RES_EXCEEDED_MAX_SIZE: 'answers more than 64 KiB',
  }
  for (const [code, says] of Object.entries(told)) assert.equal(connectionProblem(code), says, code)
})
