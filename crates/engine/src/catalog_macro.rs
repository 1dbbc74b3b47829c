//! The macro that combines a list of games into one closed game: one enum for each associated type,
//! with a variant per game, and the traits by delegation to the game.

macro_rules! catalog {
    (games { $($variant:ident($game:ty)),+ $(,)? } tests { $($tried:ident($tried_game:ty)),* $(,)? }) => {
        catalog!(@make $([] false $variant($game)),+
            $(, [#[cfg(feature = "testing")]] true $tried($tried_game))*);
    };

    (@make $([$(#[$meta:meta])*] $hidden:literal $variant:ident($game:ty)),+) => {
        /// A game of any kind in the list.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(clippy::large_enum_variant, reason = "a game is copied whole, whatever its size")]
        pub enum AnyGame {
            $($(#[$meta])* $variant($game),)+
        }

        /// A rule set of any game in the list.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyRules {
            $($(#[$meta])* $variant(<$game as Game>::Rules),)+
        }

        /// An action of any game in the list.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyAction {
            $($(#[$meta])* $variant(<$game as Game>::Action),)+
        }

        /// An event of any game in the list.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyEvent {
            $($(#[$meta])* $variant(<$game as Game>::Event),)+
        }

        /// A view of any game in the list.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyView {
            $($(#[$meta])* $variant(<$game as Game>::View),)+
        }

        /// The reason for a refusal at any game in the list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AnyRefusal {
            $($(#[$meta])* $variant(<$game as Game>::Refusal),)+
            /// The action belongs to another game.
            OtherGame,
        }

        catalog!(@written AnyGame; $([$(#[$meta])*] $variant)+);
        catalog!(@written AnyRules; $([$(#[$meta])*] $variant)+);
        catalog!(@written AnyAction; $([$(#[$meta])*] $variant)+);
        catalog!(@written AnyEvent; $([$(#[$meta])*] $variant)+);
        catalog!(@written AnyView; $([$(#[$meta])*] $variant)+);
        catalog!(@schema AnyRules "AnyRules" Rules; $([$(#[$meta])*] $hidden $game),+);
        catalog!(@schema AnyAction "AnyAction" Action; $([$(#[$meta])*] $hidden $game),+);
        catalog!(@schema AnyEvent "AnyEvent" Event; $([$(#[$meta])*] $hidden $game),+);
        catalog!(@schema AnyView "AnyView" View; $([$(#[$meta])*] $hidden $game),+);

        impl fmt::Display for AnyRefusal {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($(#[$meta])* Self::$variant(illegal) => fmt::Display::fmt(illegal, f),)+
                    Self::OtherGame => f.write_str("this is an action of another game"),
                }
            }
        }

        impl Refusal for AnyRefusal {
            fn code(self) -> &'static str {
                match self {
                    $($(#[$meta])* Self::$variant(illegal) => illegal.code(),)+
                    Self::OtherGame => "action_of_another_game",
                }
            }

            fn rule(self) -> &'static str {
                match self {
                    $($(#[$meta])* Self::$variant(illegal) => illegal.rule(),)+
                    Self::OtherGame => "1.1",
                }
            }
        }

        impl Game for AnyGame {
            type Rules = AnyRules;
            type Action = AnyAction;
            type Event = AnyEvent;
            type View = AnyView;
            type Refusal = AnyRefusal;

            fn kind(rules: &AnyRules) -> &'static str {
                match rules {
                    $($(#[$meta])* AnyRules::$variant(_) => <$game as GameKind>::NAME,)+
                }
            }

            fn seats(rules: &AnyRules) -> SeatRange {
                match rules {
                    $($(#[$meta])* AnyRules::$variant(rules) => <$game>::seats(rules),)+
                }
            }

            fn counts_per_bet(rules: &AnyRules) -> u32 {
                match rules {
                    $($(#[$meta])* AnyRules::$variant(rules) => <$game>::counts_per_bet(rules),)+
                }
            }

            fn counts_max(rules: &AnyRules, seats: u8) -> u32 {
                match rules {
                    $($(#[$meta])*
                    AnyRules::$variant(rules) => <$game>::counts_max(rules, seats),)+
                }
            }

            fn may_have_short_stakes(rules: &AnyRules) -> bool {
                match rules {
                    $($(#[$meta])*
                    AnyRules::$variant(rules) => <$game>::may_have_short_stakes(rules),)+
                }
            }

            fn check(rules: &AnyRules) -> Result<(), RulesError> {
                match rules {
                    $($(#[$meta])* AnyRules::$variant(rules) => <$game as Game>::check(rules),)+
                }
            }

            fn countdown_ms(rules: &AnyRules) -> RangeInclusive<u32> {
                match rules {
                    $($(#[$meta])* AnyRules::$variant(rules) => <$game>::countdown_ms(rules),)+
                }
            }

            fn new(rules: &AnyRules, seats: u8, starter: Option<Seat>) -> Self {
                match rules {
                    $($(#[$meta])* AnyRules::$variant(rules) => {
                        Self::$variant(<$game as Game>::new(rules, seats, starter))
                    })+
                }
            }

            fn turn(&self) -> Turn {
                match self {
                    $($(#[$meta])* Self::$variant(game) => game.turn(),)+
                }
            }

            fn legal_actions(&self, seat: Seat, actions: &mut Vec<AnyAction>) {
                match self {
                    $($(#[$meta])* Self::$variant(game) => {
                        let mut legal = Vec::new();
                        game.legal_actions(seat, &mut legal);
                        actions.extend(legal.into_iter().map(AnyAction::$variant));
                    })+
                }
            }

            fn act(
                &self,
                seat: Seat,
                action: &AnyAction,
                events: &mut Vec<AnyEvent>,
            ) -> Result<Self, AnyRefusal> {
                match (self, action) {
                    $($(#[$meta])* (Self::$variant(game), AnyAction::$variant(action)) => {
                        let mut happened = Vec::new();
                        let next = game.act(seat, action, &mut happened);
                        let next = next.map_err(AnyRefusal::$variant)?;
                        events.extend(happened.into_iter().map(AnyEvent::$variant));
                        Ok(Self::$variant(next))
                    })+
                    _ => Err(AnyRefusal::OtherGame),
                }
            }

            fn resolve(&self, answer: &ChanceAnswer, events: &mut Vec<AnyEvent>) -> Self {
                match self {
                    $($(#[$meta])* Self::$variant(game) => {
                        let mut happened = Vec::new();
                        let next = game.resolve(answer, &mut happened);
                        events.extend(happened.into_iter().map(AnyEvent::$variant));
                        Self::$variant(next)
                    })+
                }
            }

            fn expire(&self, events: &mut Vec<AnyEvent>) -> Self {
                match self {
                    $($(#[$meta])* Self::$variant(game) => {
                        let mut happened = Vec::new();
                        let next = game.expire(&mut happened);
                        events.extend(happened.into_iter().map(AnyEvent::$variant));
                        Self::$variant(next)
                    })+
                }
            }

            fn default_action(&self, seat: Seat) -> Option<AnyAction> {
                match self {
                    $($(#[$meta])* Self::$variant(game) => {
                        game.default_action(seat).map(AnyAction::$variant)
                    })+
                }
            }

            fn outcome(&self) -> Option<Outcome> {
                match self {
                    $($(#[$meta])* Self::$variant(game) => game.outcome(),)+
                }
            }

            fn ending(&self) -> Option<&'static str> {
                match self {
                    $($(#[$meta])* Self::$variant(game) => game.ending(),)+
                }
            }

            fn counts(&self) -> Vec<CounterIncrement> {
                match self {
                    $($(#[$meta])* Self::$variant(game) => game.counts(),)+
                }
            }

            fn view(&self, viewer: Viewer) -> AnyView {
                match self {
                    $($(#[$meta])* Self::$variant(game) => {
                        AnyView::$variant(game.view(viewer))
                    })+
                }
            }

            fn redact(event: &AnyEvent, viewer: Viewer) -> Option<AnyEvent> {
                match event {
                    $($(#[$meta])* AnyEvent::$variant(event) => {
                        <$game>::redact(event, viewer).map(AnyEvent::$variant)
                    })+
                }
            }

            fn observe(view: &mut AnyView, event: &AnyEvent) {
                match (view, event) {
                    $($(#[$meta])* (AnyView::$variant(view), AnyEvent::$variant(event)) => {
                        <$game>::observe(view, event);
                    })+
                    // A view only follows the events of its own table, which belong to its own
                    // game.
                    _ => {}
                }
            }

            fn prompt_in_view(view: &AnyView) -> Option<Prompt> {
                match view {
                    $($(#[$meta])* AnyView::$variant(view) => <$game>::prompt_in_view(view),)+
                }
            }

            fn prompt_for(&self, viewer: Viewer) -> Option<Prompt> {
                match self {
                    $($(#[$meta])* Self::$variant(game) => game.prompt_for(viewer),)+
                }
            }

            fn legal_in_view(view: &AnyView, actions: &mut Vec<AnyAction>) {
                match view {
                    $($(#[$meta])* AnyView::$variant(view) => {
                        let mut legal = Vec::new();
                        <$game>::legal_in_view(view, &mut legal);
                        actions.extend(legal.into_iter().map(AnyAction::$variant));
                    })+
                }
            }

            fn choose_action(view: &AnyView) -> Option<AnyAction> {
                match view {
                    $($(#[$meta])* AnyView::$variant(view) => {
                        <$game>::choose_action(view).map(AnyAction::$variant)
                    })+
                }
            }

            fn choose_action_with_skill(skill: Skill, view: &AnyView) -> Option<AnyAction> {
                match view {
                    $($(#[$meta])* AnyView::$variant(view) => {
                        <$game>::choose_action_with_skill(skill, view).map(AnyAction::$variant)
                    })+
                }
            }

            fn choose_action_with_memory(
                skill: Skill,
                view: &AnyView,
                shown: &mut dyn Iterator<Item = &AnyEvent>,
            ) -> Option<AnyAction> {
                match view {
                    $($(#[$meta])* AnyView::$variant(view) => {
                        let mut shown = shown.filter_map(|event| match event {
                            AnyEvent::$variant(event) => Some(event),
                            _ => None,
                        });
                        let action = <$game>::choose_action_with_memory(skill, view, &mut shown);
                        action.map(AnyAction::$variant)
                    })+
                }
            }

            fn is_commitment(view: &AnyView, action: &AnyAction) -> bool {
                match (view, action) {
                    $($(#[$meta])* (AnyView::$variant(view), AnyAction::$variant(action)) => {
                        <$game>::is_commitment(view, action)
                    })+
                    // `act` refuses the action as one of another game.
                    _ => false,
                }
            }

            fn choose_uncommitted_action(
                view: &AnyView,
                shown: &mut dyn Iterator<Item = &AnyEvent>,
            ) -> Option<AnyAction> {
                match view {
                    $($(#[$meta])* AnyView::$variant(view) => {
                        let mut shown = shown.filter_map(|event| match event {
                            AnyEvent::$variant(event) => Some(event),
                            _ => None,
                        });
                        let action = <$game>::choose_uncommitted_action(view, &mut shown);
                        action.map(AnyAction::$variant)
                    })+
                }
            }

            fn candidate_actions(view: &AnyView, actions: &mut Vec<AnyAction>) {
                match view {
                    $($(#[$meta])* AnyView::$variant(view) => {
                        let mut worth = Vec::new();
                        <$game>::candidate_actions(view, &mut worth);
                        actions.extend(worth.into_iter().map(AnyAction::$variant));
                    })+
                }
            }

            fn evaluate_actions(view: &AnyView, quick: &[SeatSet]) -> Vec<(AnyAction, i64)> {
                match view {
                    $($(#[$meta])* AnyView::$variant(view) => {
                        let judged = <$game>::evaluate_actions(view, quick).into_iter();
                        judged.map(|(action, worth)| (AnyAction::$variant(action), worth)).collect()
                    })+
                }
            }

            fn sample_game(view: &AnyView, dice: &mut ChanceRng) -> Option<Self> {
                match view {
                    $($(#[$meta])* AnyView::$variant(view) => {
                        <$game>::sample_game(view, dice).map(AnyGame::$variant)
                    })+
                }
            }

            fn sample_likely_games(
                view: &AnyView,
                shown: &[AnyEvent],
                count: u32,
                dice: &mut ChanceRng,
            ) -> Vec<SampledGame<Self>> {
                match view {
                    $($(#[$meta])* AnyView::$variant(view) => {
                        let shown = shown.iter().filter_map(|event| match event {
                            AnyEvent::$variant(event) => Some(event.clone()),
                            _ => None,
                        });
                        let shown: Vec<_> = shown.collect();
                        let games = <$game>::sample_likely_games(view, &shown, count, dice);
                        let any = |one: SampledGame<$game>| SampledGame {
                            game: AnyGame::$variant(one.game),
                            quick: one.quick,
                        };
                        games.into_iter().map(any).collect()
                    })+
                }
            }

            fn look_ahead(&self, quick: SeatSet, seat: Seat, action: &AnyAction) -> Option<i64> {
                match (self, action) {
                    $($(#[$meta])* (AnyGame::$variant(game), AnyAction::$variant(action)) => {
                        game.look_ahead(quick, seat, action)
                    })+
                    _ => None,
                }
            }

            fn imagined_game_count(view: &AnyView) -> Option<u32> {
                match view {
                    $($(#[$meta])* AnyView::$variant(view) => <$game>::imagined_game_count(view),)+
                }
            }

            fn describe(view: &AnyView) -> Vec<Row> {
                match view {
                    $($(#[$meta])* AnyView::$variant(view) => <$game>::describe(view),)+
                }
            }

            fn describe_action(action: &AnyAction) -> Vec<Piece> {
                match action {
                    $($(#[$meta])* AnyAction::$variant(action) => {
                        <$game>::describe_action(action)
                    })+
                }
            }

            fn describe_event(event: &AnyEvent) -> Option<Row> {
                match event {
                    $($(#[$meta])* AnyEvent::$variant(event) => {
                        <$game>::describe_event(event)
                    })+
                }
            }
        }

        impl Readable for AnyGame {
            fn read_table(text: &str) -> Result<Table<Self>, DocumentError> {
                let kind = crate::table::read_kind(text)?;
                $($(#[$meta])* if kind == <$game as GameKind>::NAME {
                    return Ok(<$game as Readable>::read_table(text)?.lift());
                })+
                Err(DocumentError::UnknownGame(kind))
            }

            fn read_line(kind: &str, text: &str) -> Result<Line<AnyAction>, DocumentError> {
                $($(#[$meta])* if kind == <$game as GameKind>::NAME {
                    return Ok(<$game>::read_line(kind, text)?.map(AnyAction::$variant));
                })+
                Err(DocumentError::UnknownGame(kind.into()))
            }

            fn read_record(text: &str) -> Result<Record<Self>, DocumentError> {
                let kind = crate::table::read_kind(text)?;
                $($(#[$meta])* if kind == <$game as GameKind>::NAME {
                    return Ok(<$game as Readable>::read_record(text)?.lift());
                })+
                Err(DocumentError::UnknownGame(kind))
            }

            fn read_rules<'de, D: Deserializer<'de>>(
                kind: &str,
                from: D,
            ) -> Result<AnyRules, D::Error> {
                $($(#[$meta])* if kind == <$game as GameKind>::NAME {
                    return <$game>::read_rules(kind, from).map(AnyRules::$variant);
                })+
                Err(D::Error::custom(DocumentError::UnknownGame(kind.into())))
            }

            fn read_action<'de, D: Deserializer<'de>>(
                kind: &str,
                from: D,
            ) -> Result<AnyAction, D::Error> {
                $($(#[$meta])* if kind == <$game as GameKind>::NAME {
                    return <$game>::read_action(kind, from).map(AnyAction::$variant);
                })+
                Err(D::Error::custom(DocumentError::UnknownGame(kind.into())))
            }
        }

        $($(#[$meta])*
        impl Lift<AnyGame> for $game {
            fn lift(self) -> AnyGame {
                AnyGame::$variant(self)
            }

            fn lift_rules(rules: Self::Rules) -> AnyRules {
                AnyRules::$variant(rules)
            }

            fn lift_action(action: Self::Action) -> AnyAction {
                AnyAction::$variant(action)
            }

            fn lift_event(event: Self::Event) -> AnyEvent {
                AnyEvent::$variant(event)
            }

            fn lift_view(view: Self::View) -> AnyView {
                AnyView::$variant(view)
            }

            fn lower_event(event: &AnyEvent) -> Option<&Self::Event> {
                match event {
                    AnyEvent::$variant(event) => Some(event),
                    _ => None,
                }
            }
        }
        )+

        impl AnyEvent {
            /// Returns the name of the event's short form and its index in its game's list.
            pub fn short(&self) -> Option<(&'static str, u8)> {
                match self {
                    $($(#[$meta])* Self::$variant(event) => {
                        let name = <$game as GameKind>::short_event(event)?;
                        let names = <$game as GameKind>::SHORT_EVENTS.iter().zip(0..);
                        names.filter(|(known, _)| **known == name).map(|(_, index)| (name, index)).next()
                    })+
                }
            }

            /// Writes the fields of an event that has a short form.
            pub fn write_short<S: SerializeSeq>(&self, fields: &mut S) -> Result<(), S::Error> {
                match self {
                    $($(#[$meta])* Self::$variant(event) => {
                        <$game as GameKind>::write_short(event, fields)
                    })+
                }
            }
        }

        /// Returns every game of the list, in order.
        pub fn kinds() -> Vec<Kind> {
            alloc::vec![$($(#[$meta])* Kind {
                name: <$game as GameKind>::NAME,
                title: <$game as GameKind>::TITLE,
                unit: <$game as GameKind>::UNIT,
                endings: <$game as GameKind>::ENDINGS,
                counters: <$game as GameKind>::COUNTERS,
                rule_sets: <$game as GameKind>::rule_sets()
                    .iter()
                    .map(|set| NamedRules {
                        name: set.name,
                        title: set.title,
                        rules: AnyRules::$variant((set.rules)()),
                        hits: set.hits,
                    })
                    .collect(),
                is_hidden: $hidden,
            },)+]
        }

        /// Returns every reason for a refusal by a game of the list, with the game's name.
        pub fn refusals() -> Vec<(&'static str, AnyRefusal)> {
            let mut refusals = Vec::new();
            $($(#[$meta])*
            for illegal in <$game as GameKind>::refusals() {
                refusals.push((<$game as GameKind>::NAME, AnyRefusal::$variant(*illegal)));
            })+
            refusals
        }

        /// Runs `visitor` with the game of this name; `None` if there is no such game.
        pub fn with_kind<V: Visitor>(kind: &str, visitor: V) -> Option<V::Output> {
            $($(#[$meta])* if kind == <$game as GameKind>::NAME {
                return Some(visitor.visit::<$game>());
            })+
            None
        }
    };

    (@written $name:ident; $([$(#[$meta:meta])*] $variant:ident)+) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $($(#[$meta])* Self::$variant(one) => one.serialize(serializer),)+
                }
            }
        }
    };

    (@schema $name:ident $title:literal $part:ident; $([$(#[$meta:meta])*] $hidden:literal $game:ty),+) => {
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> alloc::borrow::Cow<'static, str> {
                $title.into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut schemas: Vec<schemars::Schema> = Vec::new();
                $($(#[$meta])* if !$hidden {
                    schemas.push(generator.subschema_for::<<$game as Game>::$part>());
                })+
                match (schemas.pop(), schemas.is_empty()) {
                    (Some(only), true) => only,
                    (last, _) => {
                        schemas.extend(last);
                        schemars::json_schema!({ "anyOf": schemas })
                    }
                }
            }
        }
    };
}
