export { createHeldDecider } from './desk.ts'
export {
  aboutLine,
  explained,
  type Held,
  holding,
  inSuspenseCents,
  isHeld,
  type Line,
  movementOf,
  type RefundOfHeld,
  refunded,
  takenBack,
  underWayCents,
} from './held.ts'
