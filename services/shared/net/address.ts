import ipaddr from 'ipaddr.js'

/** The class of an address: on the public internet, in a private network, or in a range that is never contacted. */
export type AddressClass = 'public' | 'private' | 'never'

/** Addresses of cloud metadata services, which return secrets of the machine. Some are in public or private ranges. */
const metadataAddresses: ReadonlySet<string> = new Set([
  '169.254.169.254', // AWS, Azure, Google, OpenStack, DigitalOcean
  '169.254.170.2', // AWS containers
  '169.254.170.23', // AWS pods
  '169.254.0.23', // Tencent
  '169.254.42.42', // Scaleway
  '100.100.100.200', // Alibaba
  '168.63.129.16', // Azure host
  'fd00:ec2::254', // AWS
  'fd00:ec2::23', // AWS pods
  'fd20:ce::254', // Google
  'fd00:42::42', // Scaleway
  'fd00:c1::a9fe:a9fe', // Oracle
  'fe80::a9fe:a9fe', // OpenStack
])

const privateRanges: ReadonlySet<string> = new Set([
  'private',
  'loopback',
  'linkLocal',
  'carrierGradeNat',
  'uniqueLocal',
])
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** Classifies an address; invalid text is `never`. An IPv4-mapped IPv6 address has the class of its IPv4 address. */
export const classifyAddress = (text: string): AddressClass => {
  if (text.includes('%') || !ipaddr.isValid(text)) return 'never'
  const address = ipaddr.process(toHexNotation(text))
  if (metadataAddresses.has(address.toString())) return 'never'
  const range = address.range()
  if (privateRanges.has(range)) return 'private'
  if (range !== 'unicast') return 'never'
  // The library also calls other addresses unicast, such as the deprecated IPv4-compatible ones (`::10.0.0.1`).
  return address.kind() === 'ipv4' || address.match(globalUnicast) ? 'public' : 'never'
}

/** Rewrites `::10.0.0.1` in hex, because the library reads it as the mapped `::ffff:10.0.0.1`. */
const toHexNotation = (text: string): string => {
  const [, start, ...bytes] = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text) ?? []
  const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number)
  return start === undefined ? text : `${start}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

/**
 * Returns whether all addresses of a name may be contacted. A mix of public and private ones indicates DNS rebinding.
 */
export const areAddressesAllowed = (addresses: readonly string[], allowPrivate: boolean): boolean => {
  const reaches = new Set(addresses.map(classifyAddress))
  return reaches.size === 1 && (reaches.has('public') || (allowPrivate && reaches.has('private')))
}
