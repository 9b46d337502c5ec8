import type { Command } from '../command.ts'
import { Failure, usedWrongly } from '../failure.ts'
import { STORIES, type Story, tell } from '../stories.ts'

export const triggerCommands: readonly Command[] = [
  {
    name: 'trigger list',
    says: 'list the stories of trigger',
    examples: ['pixgate trigger list', 'pixgate trigger list --json'],
    run: async (_, { out }) => out.show(listed(), ['story', 'says']),
  },
  {
    name: 'trigger',
    says: 'make a story happen in the sandbox: real operations at the simulated bank',
    more: ['Its events are in the feed and at your endpoints. Money that a story needs is paid in first.'],
    arguments: [{ name: 'STORY', says: 'as trigger list names them' }],
    examples: ['pixgate trigger cash-in.paid', 'pixgate trigger cash-out.failed --json'],
    run: async (input, context) => {
      const name = input.word(0)
      const story: Story | undefined = Object.hasOwn(STORIES, name) ? STORIES[name as keyof typeof STORIES] : undefined
      if (!story) throw usedWrongly('there is no such story', 'See: pixgate trigger list')
      if (/^pix_live_/.test(context.settings.apiKey ?? ''))
        throw new Failure('stories happen in a sandbox only', { exit: 'notAllowed', code: 'sandbox_only' })
      const pixgate = await context.merchant()
      const steps = await tell(pixgate, story, context.signal, (step) => context.out.say(step))
      const ids = steps.map(({ id }) => id)
      if (context.out.isJson) context.out.show({ story: name, operations: steps })
      else context.out.say(`Done: ${ids.join(' ')}`)
    },
  },
]

function listed() {
  return Object.entries(STORIES).map(([story, { says }]) => ({ story, says }))
}
