import type { Reach } from './address.ts'

const metadataNames: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.tencentyun.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'instance-data',
  'instance-data.ec2.internal',
])
/** Names that mean something inside a network only. */
const internalSuffixes = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'home.arpa',
  'svc',
  'cluster.local',
  'corp',
  'home',
  'intranet',
  'lan',
  'private',
]

/** What a name in lower case says before anybody resolves it: the second wall behind the check of its addresses. */
export const reachOfName = (name: string): Reach => {
  // An empty label is no name: it would hide what the name ends with.
  if (metadataNames.has(name) || name.split('.').includes('')) return 'never'
  const isInternal = !name.includes('.') || internalSuffixes.some((suffix) => name.endsWith(`.${suffix}`))
  return isInternal ? 'private' : 'public'
}
