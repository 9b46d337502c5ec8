import { testStory } from './support/stories.ts'

testStory('paidTwice', { opensCase: true })
