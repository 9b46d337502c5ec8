import { releasesDocument, reportsDocument, sendingDocument } from './answers.ts'
import { casesDocument } from './cases.ts'
import { collectionDocument, llmsDocument } from './collection.ts'
import { configurationDocument, environmentExample } from './configuration.ts'
import type { GeneratedDocument } from './document.ts'
import { errorsDocuments } from './errors.ts'
import { eventSchemaDocuments } from './event-schemas.ts'
import { ledgerDocument } from './ledger.ts'
import { openApi } from './openapi.ts'
import { signatureVectors } from './signature-vectors.ts'
import { statesDocument } from './states.ts'

/** All generated files. */
export function documents(): GeneratedDocument[] {
  return [
    statesDocument(),
    casesDocument(),
    releasesDocument(),
    sendingDocument(),
    reportsDocument(),
    ledgerDocument(),
    ...errorsDocuments(),
    ...eventSchemaDocuments(),
    signatureVectors(),
    openApi(),
    collectionDocument(),
    llmsDocument(),
    configurationDocument(),
    environmentExample(),
  ]
}
