export { createHeldDecider } from './desk.ts'
export {
  aboutLine,
  explained,
  type Held,
  holding,
  inSuspenseCents,
  isHeld,
  type RefundOfHeld,
  refunded,
  takenBack,
  underWayCents,
} from './held.ts'
