export { createHeldDecider } from './desk.ts'
export {
  aboutLine,
  decidableCents,
  explained,
  type Held,
  holding,
  isHeld,
  type Line,
  movementOf,
  type RefundOfHeld,
  refunded,
  takenBack,
} from './held.ts'
