export type {
  BrCode,
  BrCodeMerchant,
  DynamicBrCode,
  PixKeyBrCode,
  RecurrenceBrCode,
  StaticBrCode,
  WithdrawalBrCode,
} from './br-code.ts'
export { BrCodeError, type BrCodeFault, type BrCodeRefusal, crc16 } from './br-code.ts'
export {
  buildDynamicBrCode,
  buildStaticBrCode,
  type DynamicBrCodeInput,
  type MerchantInput,
  type StaticBrCodeInput,
} from './build.ts'
export {
  type EndToEndIdParts,
  formatEndToEndId,
  formatReturnId,
  isEndToEndId,
  isReturnId,
} from './end-to-end-id.ts'
export { parseBrCode } from './parse.ts'
