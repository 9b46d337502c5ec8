export { expressWebhook, fastifyWebhook, type HandleWebhook, webhookRoute } from './adapters.ts'
export type { Notification, WebhookTest } from './generated/types.ts'
export {
  type HeaderSource,
  type KeyResolver,
  type PublicKeysOptions,
  publicKeys,
  type SignedRequest,
  type VerifyOptions,
  verifyDigitalSignature,
  verifyWebhook,
  WebhookError,
  type WebhookEvent,
  type WebhookFault,
} from './verify.ts'
