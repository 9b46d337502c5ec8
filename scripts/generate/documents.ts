import { releasesDocument, reportsDocument, sendingDocument } from './answers.ts'
import { casesDocument } from './cases.ts'
import { cliGuides } from './cli.ts'
import { collectionDocument, llmsDocument } from './collection.ts'
import { configurationDocument, environmentExample } from './configuration.ts'
import type { GeneratedDocument } from './document.ts'
import { errorsDocuments } from './errors.ts'
import { eventSchemaDocuments } from './event-schemas.ts'
import { ledgerDocument } from './ledger.ts'
import { openApi } from './openapi.ts'
import { sdkSources } from './sdk.ts'
import { sdkSurface } from './sdk-surface-text.ts'
import { signatureVectors } from './signature-vectors.ts'
import { statesDocument } from './states.ts'

/** All generated files. The last is made of the sources before it, which are written by then. */
export function* documents(): Generator<GeneratedDocument> {
  yield* [
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
    ...sdkSources(),
    ...cliGuides(),
  ]
  yield sdkSurface()
}
