import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { reads, type System as SystemData } from '../api.ts'
import { Choice, Input } from '../ui/controls.tsx'
import { Ago, Badge, dataCss, Facts, Table, When } from '../ui/data.tsx'
import { Empty, ErrorNotice, Waiting } from '../ui/feedback.tsx'
import { useFormat, useWords } from '../words/words.tsx'
import css from './administration.module.css'
import { HealthList } from './overview.tsx'

/** What runs here, whether it is well, and how it is configured. */
export function System() {
  const words = useWords()
  const { data, error, refetch } = useQuery(reads.system())
  return (
    <>
      <h1>{words.nav.system}</h1>
      <div className={css.page}>
        {error && !data && <ErrorNotice error={error} onRetry={() => refetch()} />}
        {!error && !data && <Waiting lines={9} />}
        {data && <Loaded data={data} />}
      </div>
    </>
  )
}

function Loaded({ data }: { readonly data: SystemData }) {
  const words = useWords()
  const text = words.system
  const overview = useQuery(reads.overview())
  return (
    <>
      <section aria-labelledby="about" className={css.section}>
        <h2 id="about">{text.about}</h2>
        <Facts
          facts={[
            [text.version, data.version],
            [text.mode, words.mode[data.mode]],
            [text.bank, data.bank],
            [text.started, <When key="started" at={data.startedAt} as="moment" />],
            ['Node.js', data.versions.node],
            ['PostgreSQL', data.versions.postgres],
          ]}
        />
      </section>
      {overview.data && (
        <section aria-labelledby="health" className={css.section}>
          <h2 id="health">{words.overview.health.title}</h2>
          <HealthList health={overview.data.health} />
        </section>
      )}
      <Work work={data.work} />
      {data.certificates.length > 0 && <Certificates certificates={data.certificates} />}
      <Settings settings={data.settings} />
    </>
  )
}

function Work({ work }: { readonly work: SystemData['work'] }) {
  const words = useWords()
  const text = words.system
  const format = useFormat()
  return (
    <section aria-labelledby="work" className={css.section}>
      <header>
        <h2 id="work">{text.work}</h2>
        <p className={css.quiet}>{text.workHint}</p>
      </header>
      <Table caption={text.work} columns={[[words.kind], [words.state, 'end']]}>
        {work.map(({ name, overdue, oldestSeconds }) => (
          <tr key={name}>
            <td>
              {text.workNames[name]}
              {oldestSeconds !== null && (
                <span className={dataCss.sub}>
                  {text.oldest(format.ago(new Date(Date.now() - oldestSeconds * 1_000).toISOString(), Date.now()))}
                </span>
              )}
            </td>
            <td data-kind="end">
              <Badge tone={overdue === 0 ? 'ok' : 'bad'}>{overdue === 0 ? text.onTime : text.overdue(overdue)}</Badge>
            </td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

const SOON_MS = 30 * 86_400_000

function Certificates({ certificates }: { readonly certificates: SystemData['certificates'] }) {
  const { system: text } = useWords()
  return (
    <section aria-labelledby="certificates" className={css.section}>
      <h2 id="certificates">{text.certificates}</h2>
      <Facts
        facts={certificates.map(({ name, endsAt }) => [
          name,
          <Badge key={name} tone={Date.parse(endsAt) - Date.now() < SOON_MS ? 'bad' : 'ok'}>
            {text.endsAt} <Ago at={endsAt} />
          </Badge>,
        ])}
      />
    </section>
  )
}

function Settings({ settings }: { readonly settings: SystemData['settings'] }) {
  const words = useWords()
  const text = words.system
  const [which, setWhich] = useState<'set' | 'all'>('set')
  const [part, setPart] = useState('')
  const shown = settings.filter(
    ({ name, isSet }) => (which === 'all' || isSet) && name.toLowerCase().includes(part.trim().toLowerCase()),
  )
  return (
    <section aria-labelledby="settings" className={css.section}>
      <header>
        <h2 id="settings">{text.settings}</h2>
        <p className={css.quiet}>{text.settingsHint}</p>
      </header>
      <div className={css.find}>
        <Choice
          label={text.which}
          value={which}
          options={[
            ['set', text.set],
            ['all', text.all],
          ]}
          onChange={setWhich}
        />
        <div>
          <Input
            type="search"
            aria-label={text.find}
            placeholder={text.find}
            value={part}
            onChange={({ target }) => setPart(target.value)}
          />
        </div>
      </div>
      {shown.length === 0 && <Empty title={text.noneSet} />}
      {shown.length > 0 && (
        <Table caption={text.settings} columns={[[text.settings], [text.value]]}>
          {shown.map(({ name, value, isSet }) => (
            <tr key={name}>
              <td className={css.value}>
                <code>{name}</code>
              </td>
              <td className={css.value}>
                {value === null ? isSet ? text.secret : text.noSecret : value === '' ? '–' : <code>{value}</code>}
                {!isSet && value !== null && <span className={dataCss.sub}>{text.isDefault}</span>}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}
