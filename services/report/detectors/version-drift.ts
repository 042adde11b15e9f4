import { detector, type Fleet, nothing, untold } from '../measures/detector.ts'

const byNumber = new Intl.Collator('en', { numeric: true })

/** A host runs another version than most of its group. */
export const versionDrift = detector<never>({
  kind: 'version-drift',
  signal: 'version of the server against its group',
  window: 'now',
  sets: [],
  evidenceSql: 'SELECT version()',
  link: '/hosts',
  detect(_rows, fleet) {
    const { version } = fleet.self
    if (version === null) return untold('version: it is not known')
    const usual = usualVersion(fleet)
    if (usual === undefined || usual === version) return nothing
    return {
      notes: [],
      sights: [
        {
          subject: '',
          severity: release(version) === release(usual) ? 'info' : 'warning',
          title: `Runs ${version} where its group runs ${usual}`,
          detail: `Hosts of ${fleet.self.group ?? 'no group'} mostly run ${usual}; what one of them plans and stores another may not.`,
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

/** The version that most hosts of the group run, of several the newest; undefined of a host alone. */
const usualVersion = ({ self, peers }: Fleet): string | undefined => {
  const versions = [self, ...peers.filter(({ group }) => group === self.group)].flatMap(({ version }) => version ?? [])
  if (versions.length < 2) return undefined
  const counted = [...Map.groupBy(versions, (version) => version)].map(([version, { length }]) => ({ version, length }))
  return counted.toSorted((one, other) => other.length - one.length || byNumber.compare(other.version, one.version))[0]
    ?.version
}

/** Year and month of a version: `26.3`. */
const release = (version: string): string => version.split('.').slice(0, 2).join('.')
