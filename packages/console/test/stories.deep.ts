import { testStory } from './support/stories.ts'

testStory('paid')
testStory('overpaid', { opensCase: true })
testStory('payoutFails')
testStory('med')
testStory('lostAnswer')
testStory('refund')
