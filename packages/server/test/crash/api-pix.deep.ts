import { crashes } from './drill.ts'
import { scenarios, unreportedFailures } from './scenarios.ts'

const takingMoney = scenarios.filter(({ sendsMoney = false }) => !sendsMoney)

crashes('api-pix', [...takingMoney, ...unreportedFailures], 60)
