import { crashes } from './drill.ts'
import { scenarios, unreportedFailures } from './scenarios.ts'

crashes('efi', [...scenarios, ...unreportedFailures], 60)
