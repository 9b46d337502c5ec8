import { HOSTILE, LONG, testHostile } from './support/hostile.ts'

const TOGETHER = 100

for (const width of [320, 1440]) testHostile('texts without a break', LONG, width)
testHostile('hostile texts, one in each field,', HOSTILE, 1440)
for (let first = 0; first < HOSTILE.length; first += TOGETHER) {
  const texts = HOSTILE.slice(first, first + TOGETHER)
  testHostile(
    `hostile texts ${first} to ${first + texts.length - 1}, all in each field,`,
    [texts.join(' ')],
    1440,
    true,
  )
}
