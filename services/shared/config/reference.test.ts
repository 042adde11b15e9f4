import { expect, it } from 'vitest'
import { formatSettingsReference } from './reference.ts'
import { choiceSetting, secretSetting, textSetting } from './setting.ts'

it('prints one row per setting, and no default of a secret', () => {
  const settings = {
    LOG_LEVEL: choiceSetting(['info', 'error'], 'info', 'Least severe line.'),
    CRON_SECRET: secretSetting('Guards the cron routes | both.'),
    COLUMNDB_PASSWORD: textSetting('', 'Password of all hosts.'),
  }
  const lines = formatSettingsReference([{ title: 'gateway', settings }]).split('\n')
  expect(lines).toContain('## gateway')
  expect(lines.find((line) => line.includes('LOG_LEVEL'))).toContain('`info`')
  expect(lines.find((line) => line.includes('CRON_SECRET'))).toContain('secret | Guards the cron routes \\| both.')
  expect(lines.find((line) => line.includes('COLUMNDB_PASSWORD'))).toContain('| empty |')
})
