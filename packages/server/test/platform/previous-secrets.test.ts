import assert from 'node:assert/strict'
import test from 'node:test'
import { createPreviousSecretReports } from '../../src/platform/secrets.ts'
import { capturedLog } from '../support/captured-log.ts'
import { steppedLogThrottle } from '../support/stepped-log-throttle.ts'

test('[rotation.2] each use of a previous secret is counted, and the first of a minute is a line', () => {
  const { logger, lines } = capturedLog()
  const throttle = steppedLogThrottle()
  const counted: string[] = []
  const onPreviousSecretUsed = createPreviousSecretReports(logger, (variable) => counted.push(variable), throttle)
  for (let use = 0; use < 3; use++) onPreviousSecretUsed('PIXGATE_PARTNER_SECRET_PREVIOUS')
  onPreviousSecretUsed('PIXGATE_ADMIN_TOKEN_PREVIOUS')
  throttle.minuteEnds()
  assert.equal(counted.length, 4)
  assert.deepEqual(
    lines.map(({ level, variable, msg }) => `${level} ${variable}: ${msg}`),
    [
      'info PIXGATE_PARTNER_SECRET_PREVIOUS: a secret that is being replaced is used still',
      'info PIXGATE_ADMIN_TOKEN_PREVIOUS: a secret that is being replaced is used still',
      'info PIXGATE_PARTNER_SECRET_PREVIOUS: a secret that is being replaced is used still (happened 2 more times within the past minute)',
    ],
  )
})
