/** Somebody who gets or sends mail. */
export interface Address {
  /** Empty where there is none. */
  name: string
  address: string
}

const bare = String.raw`[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[\p{L}\p{N}.-]{1,253}`
const shape = new RegExp(
  String.raw`^(?:(?<name>[^<>"\\,\p{Cc}\u2028\u2029]{0,100})<(?<named>${bare})>|(?<alone>${bare}))$`,
  'u',
)

/** Reads `a@b.example` or `Name <a@b.example>`; undefined for anything else, line breaks above all. */
export const readAddress = (text: string): Address | undefined => {
  const { name = '', named, alone } = shape.exec(text.trim())?.groups ?? {}
  const address = named ?? alone
  return address === undefined ? undefined : { name: name.trim(), address }
}

/** As it stands in a header; the name holds neither quotes nor backslashes. */
export const writeAddress = ({ name, address }: Address): string => (name === '' ? address : `"${name}" <${address}>`)
