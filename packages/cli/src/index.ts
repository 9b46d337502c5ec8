import type { Command } from './command.ts'
import { eventCommands } from './commands/events.ts'
import { localCommands } from './commands/local.ts'
import { moneyCommands } from './commands/money.ts'
import { operatorCommands } from './commands/operate.ts'
import { serverCommands } from './commands/serve.ts'
import { triggerCommands } from './commands/trigger.ts'
import { webhookCommands } from './commands/webhooks.ts'
import { completionCommand } from './completion.ts'

const listed: readonly Command[] = [
  ...moneyCommands,
  ...eventCommands,
  ...triggerCommands,
  ...webhookCommands,
  ...operatorCommands,
  ...localCommands,
  ...serverCommands,
]

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [...listed, completionCommand(listed)]
