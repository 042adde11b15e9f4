import { Command } from 'commander'
import { type CommandContext, openOutput } from '../context.ts'
import type { Examination } from '../doctor/examine.ts'
import { computeScore, type Finding } from '../doctor/finding.ts'
import { exitCodes } from '../exit-codes.ts'
import { readHostUrl } from '../host-url.ts'
import { formatExamples, requireServicesNode } from '../options.ts'
import type { Output, Tone } from '../output/output.ts'

/** Checks a ClickHouse host without a Watchhouse server. */
export const createDoctorCommand = (context: CommandContext): Command =>
  new Command('doctor')
    .description('check a ClickHouse host without a server: connection, TLS, version, grants and health')
    .argument('<url>', 'address of the host, such as https://clickhouse-1:8443')
    .option('--user <name>', 'user of the host (default: CLICKHOUSE_USER, else default)')
    .option('--strict', 'also fail for warnings')
    .addHelpText('after', '\nThe password is read from CLICKHOUSE_PASSWORD, or entered on the terminal.')
    .addHelpText(
      'after',
      formatExamples(
        'watchhouse doctor http://localhost:8123',
        'CLICKHOUSE_PASSWORD=… watchhouse doctor https://clickhouse-1:8443 --user watch --strict',
      ),
    )
    .action(async (address: string, options: { user?: string; strict?: boolean }, command) => {
      requireServicesNode('doctor')
      const output = openOutput(context, command)
      const url = readHostUrl(address)
      const user = options.user ?? (context.env.CLICKHOUSE_USER || 'default')
      const password = await readPassword(context, user, options.user !== undefined)
      // The checks load the rules and the client of the service `query`, which other commands do not need.
      const { examineHost } = await import('../doctor/examine.ts')
      const examination = await examineHost({ url, user, password }, context.signal)
      if (!examination.isReachable) return reportFailure(context, output, url, examination)
      reportFindings(output, url, examination)
      const isFailed = examination.findings.some(
        ({ status }) => status === 'critical' || (options.strict === true && status === 'warning'),
      )
      if (isFailed) context.setExitCode(exitCodes.failed)
    })

/** Prompts for the password only if a user is named, because the user `default` often has none. */
const readPassword = async (
  { env, stdin, stderr, signal }: CommandContext,
  user: string,
  isUserNamed: boolean,
): Promise<string> => {
  if (env.CLICKHOUSE_PASSWORD !== undefined || !isUserNamed || !stdin.isTTY) return env.CLICKHOUSE_PASSWORD ?? ''
  const { default: password } = await import('@inquirer/password')
  return await password({ message: `Password of "${user}"`, mask: true }, { input: stdin, output: stderr, signal })
}

const reportFailure = (
  { setExitCode }: CommandContext,
  output: Output,
  url: URL,
  examination: Extract<Examination, { isReachable: false }>,
): void => {
  const { failure, isRefused, tls } = examination
  setExitCode(isRefused ? exitCodes.unauthorized : exitCodes.unreachable)
  if (output.mode === 'json') return output.json({ url: url.origin, isReachable: false, failure, tls })
  output.note(failure)
  if (isRefused) output.note('Check --user and CLICKHOUSE_PASSWORD.')
}

const signs: Readonly<Record<Finding['status'], string>> = { ok: '✓', warning: '!', critical: '✗', 'no data': '–' }
const tones: Readonly<Record<Finding['status'], Tone>> = {
  ok: 'good',
  warning: 'warning',
  critical: 'critical',
  'no data': 'muted',
}

const reportFindings = (
  output: Output,
  url: URL,
  { version, findings }: Extract<Examination, { isReachable: true }>,
): void => {
  const score = computeScore(findings)
  output.list({
    rows: findings,
    json: { url: url.origin, isReachable: true, version, score, findings },
    empty: '',
    columns: [
      {
        title: 'STATUS',
        value: ({ status }) => (output.mode === 'terminal' ? `${signs[status]} ${status}` : status),
        tone: ({ status }) => tones[status],
      },
      { title: 'CHECK', value: ({ check }) => check },
      { title: 'TITLE', value: ({ title }) => title },
      { title: 'RESULT', value: ({ detail }) => detail },
    ],
  })
  if (output.mode === 'json') return
  const remedies = findings.filter(
    ({ remedy, status }) => remedy !== null && (status !== 'ok' || output.mode === 'terminal'),
  )
  if (remedies.length > 0) output.note('')
  for (const { check, remedy, status } of remedies)
    output.note(`${output.paint(status === 'ok' ? `${check} (optional)` : check, tones[status])}: ${remedy}`)
  output.note(`\nScore: ${score} of 100`)
}
