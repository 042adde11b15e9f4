import { defineDetector, type Fleet, emptyOutcome, createNoDataOutcome } from '../detection/detector.ts'

const numericCollator = new Intl.Collator('en', { numeric: true })

/** Detects hosts whose version differs from that of most hosts in their group. */
export const versionDriftDetector = defineDetector<never>({
  kind: 'version-drift',
  signal: 'server version compared with the group',
  window: 'now',
  sets: [],
  evidenceSql: 'SELECT version()',
  link: '/hosts',
  detect(_rows, fleet) {
    const { version } = fleet.self
    if (version === null) return createNoDataOutcome('version: not reported by this host')
    const usual = findUsualVersion(fleet)
    if (usual === undefined || usual === version) return emptyOutcome
    return {
      notes: [],
      observations: [
        {
          subject: '',
          severity: getRelease(version) === getRelease(usual) ? 'info' : 'warning',
          title: `Runs ${version}, its group runs ${usual}`,
          detail: `Hosts of ${fleet.self.group ?? 'no group'} mostly run ${usual}. Query plans and storage formats can differ between versions.`,
          baseline: null,
          value: null,
          unit: 'version',
          score: null,
          confidence: 'high',
        },
      ],
    }
  },
})

/** Returns the most frequent version in the group; in a tie, the newest. Undefined if fewer than two are known. */
const findUsualVersion = ({ self, peers }: Fleet): string | undefined => {
  const versions = [self, ...peers.filter(({ group }) => group === self.group)].flatMap(({ version }) => version ?? [])
  if (versions.length < 2) return undefined
  const counted = [...Map.groupBy(versions, (version) => version)].map(([version, { length }]) => ({ version, length }))
  return counted.toSorted(
    (one, other) => other.length - one.length || numericCollator.compare(other.version, one.version),
  )[0]?.version
}

/** Returns the year and month of a version, such as `26.3`. */
const getRelease = (version: string): string => version.split('.').slice(0, 2).join('.')
