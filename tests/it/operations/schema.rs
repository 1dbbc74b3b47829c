//! The schema's version: the schemas on which the program refuses to serve.

use bahay::db::{self, SchemaError};

use crate::support::db::{TestDatabase, execute, read_values};

#[tokio::test]
async fn migrations_run_once_and_the_result_is_what_the_program_wants() {
    let database = TestDatabase::empty().await;
    let options = database.options();
    assert!(matches!(db::check_schema(&options).await, Err(SchemaError::Missing)));
    let pool = database.owner_pool().await;
    let (one, two) = tokio::join!(db::migrate(&pool), db::migrate(&pool));
    one.unwrap();
    two.unwrap();
    db::check_schema(&options).await.unwrap();
    db::migrate(&pool).await.unwrap();
}

#[tokio::test]
async fn a_schema_that_the_program_does_not_know_is_refused() {
    let database = TestDatabase::new().await;
    db::check_schema(&database.options()).await.unwrap();
    let pool = database.owner_pool().await;
    for (change, expected) in [
        (
            "delete from _sqlx_migrations where version = 12",
            "the schema lacks migration 12: run `bahay migrate`",
        ),
        (
            "update _sqlx_migrations set version = 999 where version = 12",
            "the schema has migration 999, which is newer than this program",
        ),
        (
            "update _sqlx_migrations set checksum = '\\x00' where version = 5",
            "migration 5 was applied with another text than this program's",
        ),
        (
            "update _sqlx_migrations set success = false where version = 5",
            "migration 5 was interrupted: repair the schema by hand",
        ),
    ] {
        let mut tx = pool.begin().await.unwrap();
        sqlx::query(change).execute(&mut *tx).await.unwrap();
        let error = db::check_schema_in_tx(&mut tx).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
        tx.rollback().await.unwrap();
    }
}

/// The database has no triggers and makes no decisions: see docs/ARCHITECTURE.md.
#[tokio::test]
async fn only_the_listed_functions_and_no_trigger_or_rule_are_in_the_database() {
    let database = TestDatabase::new().await;
    let pool = database.owner_pool().await;
    let others = "not in ('pg_catalog', 'information_schema')";
    let catalog = format!(
        "
        select 'function ' || p.proname || case when p.prosecdef then ' of its owner' else '' end
        from pg_proc p
        join pg_namespace n on n.oid = p.pronamespace
        where n.nspname {others} and not exists (
            -- The extensions are listed below, without their functions.
            select from pg_depend d where d.objid = p.oid and d.deptype = 'e'
        )
        union all
        select 'trigger ' || t.tgname from pg_trigger t where not t.tgisinternal
        union all
        select 'event trigger ' || e.evtname from pg_event_trigger e
        union all
        select 'rule ' || r.rulename from pg_rules r where r.schemaname {others}
        union all
        select 'view ' || v.viewname from pg_views v where v.schemaname {others}
        union all
        select 'view ' || v.matviewname from pg_matviews v where v.schemaname {others}
        union all
        select 'extension ' || e.extname from pg_extension e where e.extname <> 'plpgsql'
        order by 1
        "
    );
    let found = async || read_values::<String>(&pool, &catalog).await;
    let expected = [
        "extension pg_trgm",
        "function analyze_months of its owner",
        "function archive_records of its owner",
        "function begin_month_of_operations of its owner",
        "function books_of",
        "function first_operation_of",
        "function make_month of its owner",
        "function remove_archived_records of its owner",
        "function settlement_order",
        "function write_books",
        "view archivable_games",
        "view entries",
        "view late_operations",
        "view late_transfers",
        "view newcomer_payments",
        "view pair_payments",
        "view transfers",
    ];
    assert_eq!(found().await, expected);

    // The query detects what it looks for.
    let meddling = "
        create function meddle() returns trigger language plpgsql security definer
            as 'begin return new; end';
        create trigger meddles before insert on games for each row execute function meddle();
        create rule mend as on delete to operations do instead nothing;";
    execute(&pool, meddling).await;
    let planted = ["function meddle of its owner", "rule mend", "trigger meddles"];
    let found = found().await;
    assert!(planted.iter().all(|one| found.iter().any(|it| it == one)), "{found:?}");
}

/// The schema is generic over kinds: no term of a game occurs in a constraint, a default or a
/// function, so that a new game needs no migration.
#[tokio::test]
async fn the_schema_knows_no_game() {
    let database = TestDatabase::new().await;
    let pool = database.owner_pool().await;
    let texts = "
        select conrelid::regclass || ': ' || pg_get_constraintdef(oid)
        from pg_constraint where connamespace = 'public'::regnamespace
        union all
        select a.attrelid::regclass || '.' || a.attname || ': '
            || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
        from pg_attribute a
        join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p')
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped
        union all
        select p.proname || ': ' || p.prosrc from pg_proc p
        where p.pronamespace = 'public'::regnamespace
        union all
        select i.indexname || ': ' || i.indexdef from pg_indexes i where i.schemaname = 'public'";
    let texts: Vec<String> = read_values(&pool, texts).await;
    assert!(texts.len() > 300, "{} texts", texts.len());
    for word in ["tongits", "tongo", "fight", "stock", "hits", "kingdom", "joker"] {
        let named: Vec<_> = texts.iter().filter(|text| text.contains(word)).collect();
        assert_eq!(named, Vec::<&String>::new(), "{word}");
    }
}

/// The privileges of the service's role on each table, as a complete list, so that a new table
/// requires a decision. `a` inserts, `r` selects, `w` updates, `w(column)` updates only that
/// column, `d` deletes.
#[tokio::test]
async fn the_service_can_neither_change_nor_remove_what_was_booked() {
    let (_database, pool) = TestDatabase::with_pool().await;
    let rights = "
        select c.relname || ' ' || concat_ws(
            ' ',
            (
                select string_agg(right(p.name, 1), '' order by p.name)
                from unnest(array['1a', '2r', '3w', '4d', '5t']) as p (name)
                where has_table_privilege(c.oid, case right(p.name, 1)
                    when 'a' then 'insert' when 'r' then 'select' when 'w' then 'update'
                    when 'd' then 'delete' else 'truncate' end)
            ),
            (
                select 'w(' || string_agg(a.attname, ',' order by a.attnum) || ')'
                from pg_attribute a
                where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
                    and has_column_privilege(c.oid, a.attnum, 'update')
                    and not has_table_privilege(c.oid, 'update')
            )
        )
        from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')
            -- Of months only what may be done with them past the whole.
            and (
                not c.relispartition
                or has_table_privilege(c.oid, 'select, insert, update, delete, truncate')
            )
        order by c.relname";
    let rights: Vec<String> = read_values(&pool, rights).await;
    let expected = [
        "_sqlx_migrations r",
        "account_operations ar",
        "account_operations_unforeseen r",
        "accounts ar w(balance,version,is_closed)",
        "additive_migrations r",
        "archivable_games r",
        "archive_dictionaries ar",
        "archive_objects r",
        "audit_entries ar",
        "board_scores arwd",
        "booked_hours arw",
        "corrections ar w(state,decided_by,decided_at,rejection_reason,operation)",
        "devices arwd",
        "entries r",
        "game_players ar w(net,finished_at)",
        "game_records ar",
        "game_results ard",
        "games ar w(state,finished_at,void_reason)",
        "grant_counts ard w(granted)",
        "halted_tables ar w(released_at,outcome)",
        "held_by_kind arw",
        "held_pots arw",
        "house r w(is_open,revision,reason,changed_by,changed_at)",
        "idempotency_keys arwd",
        "identities arwd",
        "jobs ard w(run_at,attempts,turn,last_error,died_at)",
        "late_operations r",
        "late_transfers r",
        "ledger_checks ar w(finished_at,counted,differences)",
        "name_skeletons ard",
        "newcomer_coins arw",
        "newcomer_payments r",
        "notices ard w(created_at,read_at,code,sender)",
        "operation_hours arw",
        "operation_keys ar",
        "operations ar",
        "operations_unforeseen r",
        "operator_browsers ard w(signed_in_at)",
        "operator_credentials arwd",
        "operator_enrolments arwd",
        "operator_issuances ar w(ended_at)",
        "operator_sessions ard w(last_seen_at,ended_at)",
        "operators ar w(role,token_hash,token_expires_at,disabled_at)",
        "owner_settings r",
        "pair_days arwd",
        "pair_payments r",
        "pair_reviews ard w(score,reason,reviewed_by,reviewed_at)",
        "passwords arwd",
        "player_counters arwd",
        "player_days arwd",
        "player_notes ard",
        "player_relations ard",
        "player_reports ar w(outcome,decided_by,decided_at,note)",
        "player_settlements ar w(gross,fee,net,reversed_at)",
        "player_settlements_unforeseen r",
        "player_statistics arwd",
        "players arw",
        "projections r w(seal,version,generation)",
        "ratings ar w(rating,uncertainty,games,rated_at)",
        "refresh_tokens arwd",
        "rewards arw",
        "room_revisions ar",
        "rooms ar w(revision)",
        "sanctions ar w(lifted_at,lifted_by)",
        "seals ar",
        "sessions arwd",
        "settlement_days arw",
        "settlements ar w(gross,fee,reversed_at)",
        "sign_in_failures arwd",
        "tournament_entrants ard",
        "tournament_games ar w(scored_in,conduct)",
        "tournament_guarantees ar",
        "tournament_lines ar",
        "tournament_passes ard w(used_in,used_entry,used_at,revoked_at)",
        "tournament_requests ar w(state,decided_by,decided_at,rejection_reason,tournament)",
        "tournament_schedules ar w(is_paused,deleted_at)",
        "tournament_starts ar",
        "tournaments ar w(version,state,entrants,pool,house_result,due_at,remind_at,secret_round,secret_after,closed_at)",
        "transfers r",
        "unsealed_operations ard",
        "used_nonces arwd",
    ];
    assert_eq!(rights, expected);
    for change in [
        "update operations set amounts[1] = 1",
        "delete from account_operations",
        "truncate operations",
    ] {
        let error = sqlx::query(change).execute(&pool).await.unwrap_err();
        assert!(error.to_string().contains("permission denied"), "{change}: {error}");
    }
    assert!(db::login_may_rewrite(&pool).await.unwrap(), "the tests' login owns the tables");
}
