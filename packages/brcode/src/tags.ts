/** Ids of the objects of a BR Code. @source BCB, Manual do BR Code */
export const TAG = {
  payloadFormat: '00',
  pointOfInitiation: '01',
  pixAccount: '26',
  merchantCategoryCode: '52',
  currency: '53',
  amount: '54',
  country: '58',
  merchantName: '59',
  merchantCity: '60',
  postalCode: '61',
  additionalData: '62',
  crc: '63',
} as const

/** Ids within a Pix template: the account (26–51) and the recurrence (80–99). */
export const PIX_TAG = {
  gui: '00',
  key: '01',
  additionalInformation: '02',
  withdrawalFacilitator: '03',
  url: '25',
} as const

/** Id of the txid within the additional data (62). */
export const TXID_TAG = '05'

/** What stands where there is no txid. */
export const NO_TXID = '***'

/** Marks a template as Pix's; read in any case. */
export const PIX_GUI = 'br.gov.bcb.pix'
