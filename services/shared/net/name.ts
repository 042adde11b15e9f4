import type { Reach } from './address.ts'

const metadataNames: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.tencentyun.com',
  'instance-data',
  'instance-data.ec2.internal',
])
/** Names that mean something inside a network only. */
const internalSuffixes = ['localhost', 'local', 'internal', 'home.arpa', 'svc', 'cluster.local']

/** What a name in lower case says before anybody resolves it: the second wall behind the check of its addresses. */
export const reachOfName = (name: string): Reach => {
  if (metadataNames.has(name)) return 'never'
  const isInternal = !name.includes('.') || internalSuffixes.some((suffix) => name.endsWith(`.${suffix}`))
  return isInternal ? 'private' : 'public'
}
