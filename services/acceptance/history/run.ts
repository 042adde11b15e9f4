import { parseArgs } from 'node:util'
import { checkChanges } from './changes.ts'
import { checkCluster } from './cluster.ts'
import { checkDeadHost } from './dead-host.ts'
import { checkFaults } from './faults.ts'
import { checkFleetKills } from './fleet-kills.ts'
import { checkGrants } from './grants.ts'
import { reportCheck } from './report.ts'
import { checkUnreachableTools } from './unreachable-tools.ts'
import { checkWalk } from './walk.ts'
import { checkSchemaDiffOnCluster } from './schema-diff-cluster.ts'
import { checkSchemaDiff } from './schema-diff.ts'

const versions = ['24.8', '25.8']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    kills: { type: 'string', default: '50' },
    hosts: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '30' },
  },
})

const checks: Readonly<Record<string, () => Promise<void>>> = {
  async grants() {
    for (const version of versions) await checkGrants(version, reportCheck)
  },
  async cluster() {
    for (const version of versions) await checkCluster(version, reportCheck)
  },
  changes: () => checkChanges({ from: '24.8', to: '25.8' }, reportCheck),
  async 'dead-host'() {
    for (const version of versions) await checkDeadHost(version, reportCheck)
  },
  'unreachable-tools': () => checkUnreachableTools(reportCheck),
  walk: () => checkWalk(reportCheck),
  async schema() {
    await checkSchemaDiff(['24.8', '24.8'], reportCheck)
    await checkSchemaDiff(['25.8', '25.8'], reportCheck)
    await checkSchemaDiff(['24.8', '25.8'], reportCheck)
    for (const version of versions) await checkSchemaDiffOnCluster(version, reportCheck)
  },
  faults: () => checkFaults(values.short, reportCheck),
  kills: () =>
    checkFleetKills(
      { kills: Number(values.kills), hosts: Number(values.hosts), minutes: Number(values.minutes) },
      reportCheck,
    ),
}

const usage = `usage: npm run test:history [-- [${Object.keys(checks).join('] [')}] [--short] [--kills 50] [--hosts 20] [--minutes 30]]`

for (const name of positionals.length > 0 ? positionals : Object.keys(checks)) {
  const check = checks[name]
  if (!check) throw new Error(usage)
  await check()
}
