import type { Command } from 'commander'
import type { CommandContext } from '../context.ts'
import { createAckCommand } from './ack.ts'
import { createAgentCommand } from './agent.ts'
import { createAlertsCommand } from './alerts.ts'
import { createApplyCommand } from './apply.ts'
import { createChangesCommand } from './changes.ts'
import { createChartsCommand } from './charts.ts'
import { createCheckConfigCommand } from './check-config.ts'
import { createCompletionCommand } from './completion.ts'
import { createDiagnoseCommand } from './diagnose.ts'
import { createDoctorCommand } from './doctor.ts'
import { createHostsCommand } from './hosts.ts'
import { createLoginCommand } from './login.ts'
import { createLogoutCommand } from './logout.ts'
import { createMcpCommand } from './mcp.ts'
import { createQueryCommand } from './query.ts'
import { createSchemaDiffCommand } from './schema-diff.ts'
import { createSilenceCommand } from './silence.ts'
import { createTablesCommand } from './tables.ts'
import { createTopCommand } from './top.ts'

/** All commands, in the order of the help. */
export const commands: readonly ((context: CommandContext) => Command)[] = [
  createLoginCommand,
  createLogoutCommand,
  createHostsCommand,
  createTopCommand,
  createQueryCommand,
  createChartsCommand,
  createTablesCommand,
  createAlertsCommand,
  createAckCommand,
  createSilenceCommand,
  createDiagnoseCommand,
  createChangesCommand,
  createSchemaDiffCommand,
  createAgentCommand,
  createMcpCommand,
  createDoctorCommand,
  createCheckConfigCommand,
  createApplyCommand,
  createCompletionCommand,
]
